//! Small Java class files made on the spot: names, annotations and calls, enough for whoever reads them without running them.

/// A class in the making.
pub(crate) struct ClassFile {
    pool: Vec<u8>,
    constants: u16,
    name: u16,
    parent: u16,
    interfaces: Vec<u16>,
    annotations: Vec<u8>,
    annotated: u16,
    methods: Vec<u8>,
    count: u16,
}

/// A call: how (`static` or `virtual`), owner, name, descriptor, line.
pub(crate) type Call<'a> = (&'a str, &'a str, &'a str, &'a str, u16);

/// An annotation: class, and elements with a text.
pub(crate) type Annotation<'a> = (&'a str, &'a [(&'a str, &'a str)]);

impl ClassFile {
    pub(crate) fn new(name: &str, parent: &str) -> Self {
        let mut class = Self {
            pool: Vec::new(),
            constants: 0,
            name: 0,
            parent: 0,
            interfaces: Vec::new(),
            annotations: Vec::new(),
            annotated: 0,
            methods: Vec::new(),
            count: 0,
        };
        class.name = class.class(name);
        class.parent = class.class(parent);
        class
    }

    pub(crate) fn implements(mut self, name: &str) -> Self {
        let at = self.class(name);
        self.interfaces.push(at);
        self
    }

    pub(crate) fn annotated(mut self, annotation: Annotation<'_>) -> Self {
        let bytes = self.annotation(annotation);
        self.annotations.extend(bytes);
        self.annotated += 1;
        self
    }

    /// A method that makes these calls.
    pub(crate) fn method(self, name: &str, descriptor: &str, calls: &[Call<'_>]) -> Self {
        self.full_method(1, name, descriptor, &[], calls)
    }

    /// A method with these access flags and annotations that makes these calls.
    pub(crate) fn full_method(
        mut self,
        access: u16,
        name: &str,
        descriptor: &str,
        annotations: &[Annotation<'_>],
        calls: &[Call<'_>],
    ) -> Self {
        let (mut code, mut lines) = (Vec::new(), Vec::new());
        for (how, owner, called, of, line) in calls {
            let class = self.class(owner);
            let (called, of) = (self.text(called), self.text(of));
            let pair = self.constant(12, &[called.to_be_bytes(), of.to_be_bytes()].concat());
            let target = self.constant(10, &[class.to_be_bytes(), pair.to_be_bytes()].concat());
            lines.extend(u16::try_from(code.len()).unwrap().to_be_bytes());
            lines.extend(line.to_be_bytes());
            code.push(if *how == "static" { 0xb8 } else { 0xb6 });
            code.extend(target.to_be_bytes());
        }
        code.push(0xb1);
        let mut body = [0_u8, 8, 0, 8].to_vec();
        body.extend(u32::try_from(code.len()).unwrap().to_be_bytes());
        body.extend(code);
        body.extend([0, 0, 0, 1]);
        let table = [&u16::try_from(calls.len()).unwrap().to_be_bytes()[..], &lines].concat();
        body.extend(self.attribute("LineNumberTable", &table));
        let mut attributes = self.attribute("Code", &body);
        let mut number = 1_u16;
        if !annotations.is_empty() {
            let mut all = u16::try_from(annotations.len()).unwrap().to_be_bytes().to_vec();
            for one in annotations {
                all.extend(self.annotation(*one));
            }
            attributes.extend(self.attribute("RuntimeVisibleAnnotations", &all));
            number = 2;
        }
        let (name, descriptor) = (self.text(name), self.text(descriptor));
        for part in [access, name, descriptor, number] {
            self.methods.extend(part.to_be_bytes());
        }
        self.methods.extend(attributes);
        self.count += 1;
        self
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        let mut attributes = Vec::new();
        if self.annotated > 0 {
            let all = [&self.annotated.to_be_bytes()[..], &self.annotations].concat();
            attributes = self.attribute("RuntimeVisibleAnnotations", &all);
        }
        let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 50];
        out.extend((self.constants + 1).to_be_bytes());
        out.extend(&self.pool);
        let interfaces = u16::try_from(self.interfaces.len()).unwrap();
        for part in [0x21, self.name, self.parent, interfaces] {
            out.extend(part.to_be_bytes());
        }
        self.interfaces.iter().for_each(|one| out.extend(one.to_be_bytes()));
        out.extend([0, 0]);
        out.extend(self.count.to_be_bytes());
        out.extend(self.methods);
        out.extend(u16::from(self.annotated > 0).to_be_bytes());
        out.extend(attributes);
        out
    }

    fn constant(&mut self, tag: u8, bytes: &[u8]) -> u16 {
        self.pool.push(tag);
        self.pool.extend(bytes);
        self.constants += 1;
        self.constants
    }

    fn text(&mut self, text: &str) -> u16 {
        let length = u16::try_from(text.len()).unwrap();
        self.constant(1, &[&length.to_be_bytes()[..], text.as_bytes()].concat())
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant(7, &name.to_be_bytes())
    }

    fn attribute(&mut self, name: &str, bytes: &[u8]) -> Vec<u8> {
        let name = self.text(name);
        [&name.to_be_bytes()[..], &u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
    }

    fn annotation(&mut self, (class, elements): Annotation<'_>) -> Vec<u8> {
        let class = self.text(&format!("L{class};"));
        let mut out = class.to_be_bytes().to_vec();
        out.extend(u16::try_from(elements.len()).unwrap().to_be_bytes());
        for (name, value) in elements {
            let (name, value) = (self.text(name), self.text(value));
            out.extend(name.to_be_bytes());
            out.push(b's');
            out.extend(value.to_be_bytes());
        }
        out
    }
}
