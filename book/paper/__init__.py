"""The book as one document for paper: `compose` joins its pages, `folds` turns to the back what a
screen folds away, `paper.css` lays it out, and `fit.js` shrinks what is wider than the sheet.
"""
