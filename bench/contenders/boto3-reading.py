"""Reads an archive back: lists the run records, gets every object with 64 threads, gunzips, hashes, compares."""

import gzip
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import boto3
from botocore.config import Config

with open(sys.argv[1], encoding="utf-8") as file:
    job = json.load(file)

threads = 64


def main():
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


def read_folder(folder):
    """Without any of the archive's own checks."""
    for root, _, names in os.walk(folder):
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


started, cpu = time.monotonic(), time.process_time()
if "archiveFolder" in job:
    read_folder(job["archiveFolder"])
else:
    main()
figures = {
    "wallMs": (time.monotonic() - started) * 1000,
    "cpuMs": (time.process_time() - cpu) * 1000,
    "peakBytes": peak_bytes(),
}
os.write(3, (json.dumps(figures) + "\n").encode())
