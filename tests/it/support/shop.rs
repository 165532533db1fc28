//! A web application with real classes: a servlet whose calls lead to a vulnerable library, and a library with a class removed.

use super::class_file::ClassFile;
use super::jar::archive;

const OBJECT: &str = "java/lang/Object";

/// A web application whose servlet reads YAML unsafely, with a log4j-core that had its JndiLookup removed.
pub(crate) fn shop() -> Vec<u8> {
    let load = ("virtual", "org/yaml/snakeyaml/Yaml", "load", "(Ljava/lang/String;)Ljava/lang/Object;", 21);
    let servlet = ClassFile::new("shop/Orders", "javax/servlet/http/HttpServlet")
        .implements("java/io/Serializable")
        .annotated(("javax/servlet/annotation/WebServlet", &[("value", "/orders")]))
        .method("doPost", "(Ljavax/servlet/http/HttpServletRequest;Ljavax/servlet/http/HttpServletResponse;)V", &[load])
        .bytes();
    let yaml = ClassFile::new("org/yaml/snakeyaml/Yaml", OBJECT).method("load", load.3, &[]).bytes();
    let constructor = ClassFile::new("org/yaml/snakeyaml/constructor/Constructor", OBJECT).bytes();
    let snakeyaml = archive(&[
        ("META-INF/maven/org.yaml/snakeyaml/pom.properties", b"groupId=org.yaml\nartifactId=snakeyaml\nversion=1.27\n"),
        ("org/yaml/snakeyaml/Yaml.class", &yaml),
        ("org/yaml/snakeyaml/constructor/Constructor.class", &constructor),
    ]);
    let pom = b"groupId=org.apache.logging.log4j\nartifactId=log4j-core\nversion=2.14.1\n";
    let logger = ClassFile::new("org/apache/logging/log4j/core/Logger", OBJECT).bytes();
    let log4j = archive(&[
        ("META-INF/maven/org.apache.logging.log4j/log4j-core/pom.properties", pom),
        ("org/apache/logging/log4j/core/Logger.class", &logger),
    ]);
    archive(&[
        ("WEB-INF/classes/shop/Orders.class", &servlet),
        ("WEB-INF/lib/snakeyaml-1.27.jar", &snakeyaml),
        ("WEB-INF/lib/log4j-core-2.14.1.jar", &log4j),
    ])
}
