"""What a kernel waits for, by counting, and how long a product takes.

`ceilings` is the model: counts in, cycles per FMA out. `counts` says where counts come from,
`limits` what a GPU delivers, `product` what the time of a whole product is, `versions` joins them
for a rung, `verdict` puts it into words, and `comparison` sets it beside what was measured.
"""
