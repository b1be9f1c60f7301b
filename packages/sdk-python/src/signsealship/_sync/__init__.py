# Written from _async by tools/python-sync.ts.
