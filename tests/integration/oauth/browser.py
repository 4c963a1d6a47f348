"""browser.py URL: a browser without a window, of a person who says yes to everything."""

import sys

import httpx

with httpx.Client(follow_redirects=True, trust_env=False, timeout=10) as client:
    client.get(sys.argv[1])
