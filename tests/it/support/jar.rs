//! Small Java archives made on the spot.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive with these entries, in this order.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        out.start_file(*name, SimpleFileOptions::default()).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

/// A library that says in its pom.properties who it is.
pub(crate) fn library(group: &str, artifact: &str, version: &str) -> Vec<u8> {
    let properties = format!("groupId={group}\nartifactId={artifact}\nversion={version}\n");
    let path = format!("META-INF/maven/{group}/{artifact}/pom.properties");
    archive(&[("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n\r\n"), (&path, properties.as_bytes())])
}

/// A web application that carries these libraries: file name and bytes.
pub(crate) fn war(libraries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let names: Vec<String> = libraries.iter().map(|(name, _)| format!("WEB-INF/lib/{name}")).collect();
    let entries: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(libraries.iter().map(|(_, bytes)| bytes.as_slice())).collect();
    archive(&entries)
}

/// A web application with log4j-core 2.14.1, which has well-known flaws.
pub(crate) fn vulnerable_war() -> Vec<u8> {
    war(&[("log4j-core-2.14.1.jar", library("org.apache.logging.log4j", "log4j-core", "2.14.1"))])
}
