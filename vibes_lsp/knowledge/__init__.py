"""The vouch knowledge base `.vouch/`: objects, review gate, lifecycle, retrieval, bundles."""
