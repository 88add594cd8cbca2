"""What runs in the page's Python: the cells of one page, what they show, and the widgets."""
