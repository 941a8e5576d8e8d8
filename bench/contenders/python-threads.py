"""The usual Python program: a thread pool, urllib3 for the service, boto3 for S3. Collects, or reads an archive back.

Writes its figures to descriptor 3.
"""

import gzip
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import boto3
import urllib3
from botocore.config import Config

with open(sys.argv[1], encoding="utf-8") as file:
    job = json.load(file)

threads = 64
paths = {"log": "features/logFetcher", "manifest": "assets/manifest"}


def collect():
    http = urllib3.PoolManager(maxsize=threads, block=False, ca_certs=job["caFile"])
    headers = {"ApiKey": job["apiKey"], "Accept": "application/json", **urllib3.make_headers(accept_encoding=True)}
    s3 = boto3.client("s3", config=Config(max_pool_connections=threads))

    def archive(task):
        cluster, name = task
        url = f"{job['serviceUrl']}/v1/platformclusters/{cluster}/{paths[name]}"
        answer = http.request("GET", url, headers=headers)
        if answer.status != 200:
            raise RuntimeError(f"GET {url} failed: {answer.status}")
        record = json.loads(answer.data)
        if name == "log":
            if record["spec"]["clusterUid"] != cluster:
                raise RuntimeError(f"checking the log of {cluster} failed: it belongs to another cluster")
            content, key, kind = answer.data, f"logs/cluster={cluster}/log.json.gz", "application/json"
        else:
            if not isinstance(record, str):
                raise RuntimeError(f"checking the manifest of {cluster} failed: it is not a string")
            content, key, kind = record.encode(), f"manifests/cluster={cluster}/manifest.txt.gz", "text/plain; charset=utf-8"
        s3.put_object(
            Bucket=job["bucket"],
            Key=key,
            Body=gzip.compress(content, 6),
            ContentType=kind,
            ContentEncoding="gzip",
            ChecksumAlgorithm="CRC32",
            IfNoneMatch="*",
            Metadata={"sha256": hashlib.sha256(content).hexdigest(), "length": str(len(content))},
        )

    tasks = [(cluster, name) for cluster in job["clusters"] for name in job["resources"]]
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(archive, tasks):
            pass


def read_bucket():
    """Lists the run records, gets every object, gunzips, hashes, compares with the record."""
    s3 = boto3.client("s3", config=Config(max_pool_connections=threads))

    def get(key):
        return s3.get_object(Bucket=job["bucket"], Key=key, ChecksumMode="ENABLED")["Body"].read()

    def check(outcome):
        content = gzip.decompress(get(outcome["key"]))
        if hashlib.sha256(content).hexdigest() != outcome["sha256"] or len(content) != outcome["bytes"]:
            raise RuntimeError(f"{outcome['key']} is another")

    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=job["bucket"], Prefix="runs/")
    records = [found["Key"] for page in pages for found in page.get("Contents", [])]
    with ThreadPoolExecutor(threads) as pool:
        for record in records:
            for _ in pool.map(check, map(json.loads, get(record).splitlines()[1:])):
                pass


def read_folder():
    """Without any of the archive's own checks."""
    for root, _, names in os.walk(job["archiveFolder"]):
        for name in names:
            if name.endswith(".gz") and "/." not in root:
                with open(os.path.join(root, name), "rb") as stored:
                    hashlib.sha256(gzip.decompress(stored.read())).hexdigest()


def peak_bytes():
    """None outside Linux, where only the peak of this process and its parent is known."""
    if not os.path.exists("/proc/self/status"):
        return None
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


work = read_folder if "archiveFolder" in job else read_bucket if "reads" in job else collect
started, cpu = time.monotonic(), time.process_time()
work()
figures = {
    "wallMs": (time.monotonic() - started) * 1000,
    "cpuMs": (time.process_time() - cpu) * 1000,
    "peakBytes": peak_bytes(),
}
os.write(3, (json.dumps(figures) + "\n").encode())
