//! The composition root: the only file that names more than one facade. Builds what a command needs and runs it.
