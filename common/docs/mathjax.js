// No box in the corner that says what is being loaded.
MathJax.Hub.Config({messageStyle: 'none'});
