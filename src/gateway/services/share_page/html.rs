//! Where the body of an HTML page begins, found a byte at a time and with nothing of the page kept: tags are read as browsers read
//! them, so what looks like one in a comment, in an attribute, or in an element that holds text only is none.

/// Elements in which a `<body` begins nothing: text to browsers, or shown to nobody.
const CLOSED: [&[u8]; 10] =
    [b"script", b"style", b"title", b"textarea", b"template", b"noscript", b"iframe", b"noframes", b"noembed", b"xmp"];
/// Bytes that are looked back at: those of the longest name that matters, with what closes its element.
const BACK: usize = 12;
/// Bytes of the longest [`Scan::closing`].
pub(super) const CLOSING: usize = 16;

/// A page as far as it was read.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    at: At,
    /// In small letters: the name of a tag, from its `/` on, or the last bytes of an element that holds text only.
    back: [u8; BACK],
    /// Bytes of the name; more than there is room for when it is longer than any that matters.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Text,
    /// Behind a `<`.
    Open,
    Name,
    /// In a tag, behind its name.
    Tag(Part),
    /// Behind `<!`, with the dashes that followed.
    Declaration(u8),
    /// Until the next `>`.
    Bogus,
    Comment(Dashes),
    Within(&'static [u8], Script),
}

/// Parts of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Between,
    Attribute,
    BehindAttribute,
    BehindEquals,
    Quoted(u8),
    Unquoted,
}

/// What came last in a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dashes {
    /// Its beginning, and so many dashes.
    Begun(u8),
    Seen(u8),
    /// `--!`
    Bang,
}

/// How a script goes on: in a comment of it, a script of its own ends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Plain,
    Comment,
    Nested,
}

impl Scan {
    pub(super) const fn new() -> Self {
        Self { at: At::Text, back: [0; BACK], length: 0 }
    }

    /// Reads on: behind how many bytes of `piece` the body begins, if it does. Nothing is to be read after that.
    pub(super) fn body_begins(&mut self, piece: &[u8]) -> Option<usize> {
        piece.iter().position(|byte| self.read(byte.to_ascii_lowercase())).map(|at| at + 1)
    }

    /// What closes all that would hide what comes next; at most [`CLOSING`] bytes.
    pub(super) fn closing(mut self) -> Vec<u8> {
        let mut all = Vec::new();
        // A tag that is closed may begin an element, which is closed next.
        while self.at != At::Text && all.len() < CLOSING {
            let close = match self.at {
                At::Tag(Part::Quoted(quote)) => vec![quote, b'>'],
                At::Comment(_) => b"-->".to_vec(),
                At::Within(name, Script::Plain) => [b"</", name, b">"].concat(),
                At::Within(name, _) => [b"--></", name, b">"].concat(),
                _ => b">".to_vec(),
            };
            self.body_begins(&close);
            all.extend(close);
        }
        all
    }

    /// Whether the body begins behind this byte.
    fn read(&mut self, byte: u8) -> bool {
        let was = self.at;
        self.at = match was {
            At::Text if byte == b'<' => At::Open,
            At::Text => At::Text,
            At::Open => self.opened(byte),
            At::Tag(Part::Quoted(quote)) => At::Tag(if byte == quote { Part::Between } else { Part::Quoted(quote) }),
            At::Name | At::Tag(_) if byte == b'>' => return self.tag_ends(),
            At::Name => self.named(byte),
            At::Tag(part) => At::Tag(part.then(byte)),
            At::Declaration(dashes) => match (byte, dashes) {
                (b'-', 0) => At::Declaration(1),
                (b'-', _) => At::Comment(Dashes::Begun(0)),
                (b'>', _) => At::Text,
                _ => At::Bogus,
            },
            At::Bogus if byte == b'>' => At::Text,
            At::Bogus => At::Bogus,
            At::Comment(dashes) => dashes.then(byte).map_or(At::Text, At::Comment),
            At::Within(name, script) => self.within(name, script, byte),
        };
        false
    }

    fn opened(&mut self, byte: u8) -> At {
        self.length = 0;
        match byte {
            b'!' => At::Declaration(0),
            b'?' => At::Bogus,
            b'<' => At::Open,
            b'/' | b'a'..=b'z' => self.named(byte),
            _ => At::Text,
        }
    }

    fn named(&mut self, byte: u8) -> At {
        match byte {
            _ if self.name() == b"/" && !byte.is_ascii_lowercase() => return At::Bogus,
            b'/' if self.length > 0 => return At::Tag(Part::Between),
            _ if is_blank(byte) => return At::Tag(Part::Between),
            _ => {}
        }
        if let Some(place) = self.back.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        } else {
            self.length = BACK + 1;
        }
        At::Name
    }

    fn name(&self) -> &[u8] {
        self.back.get(..self.length).unwrap_or_default()
    }

    /// Whether the tag begins the body.
    fn tag_ends(&mut self) -> bool {
        let closed = CLOSED.into_iter().find(|name| *name == self.name());
        let is_body = self.name() == b"body";
        self.at = closed.map_or(At::Text, |name| At::Within(name, Script::Plain));
        (self.back, self.length) = ([0; BACK], 0);
        is_body
    }

    fn within(&mut self, name: &'static [u8], script: Script, byte: u8) -> At {
        let ends_name = is_blank(byte) || matches!(byte, b'/' | b'>');
        let closes = ends_name && self.back.strip_suffix(name).is_some_and(|before| before.ends_with(b"</"));
        if closes && script != Script::Nested {
            return if byte == b'>' { At::Text } else { At::Tag(Part::Between) };
        }
        let opens = ends_name && self.back.ends_with(b"<script");
        self.back.rotate_left(1);
        if let Some(last) = self.back.last_mut() {
            *last = byte;
        }
        let script = match script {
            Script::Comment | Script::Nested if self.back.ends_with(b"-->") => Script::Plain,
            Script::Plain if name == b"script" && self.back.ends_with(b"<!--") => Script::Comment,
            Script::Comment if opens => Script::Nested,
            Script::Nested if closes => Script::Comment,
            same => same,
        };
        At::Within(name, script)
    }
}

impl Part {
    const fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::BehindEquals, b'"' | b'\'') => Self::Quoted(byte),
            (Self::BehindEquals, _) if is_blank(byte) => Self::BehindEquals,
            (Self::BehindEquals, _) => Self::Unquoted,
            (Self::Unquoted, _) if !is_blank(byte) => Self::Unquoted,
            (Self::Attribute | Self::BehindAttribute, b'=') => Self::BehindEquals,
            (Self::Attribute | Self::BehindAttribute, _) if is_blank(byte) => Self::BehindAttribute,
            (_, b'/') => Self::Between,
            _ if is_blank(byte) => Self::Between,
            _ => Self::Attribute,
        }
    }
}

impl Dashes {
    /// None where the comment ends.
    fn then(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Begun(_) | Self::Seen(2) | Self::Bang, b'>') => return None,
            (Self::Begun(0), b'-') => Self::Begun(1),
            (Self::Begun(_), b'-') => Self::Seen(2),
            (Self::Seen(dashes), b'-') => Self::Seen((dashes + 1).min(2)),
            (Self::Bang, b'-') => Self::Seen(1),
            (Self::Seen(2), b'!') => Self::Bang,
            _ => Self::Seen(0),
        })
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where the body begins is marked with `^`, which is no part of the page.
    const PAGES: &[&str] = &[
        "<!doctype html><html><head></head><body>^x",
        "<BODY class=\"a>b\" id='c>d' data-x=e\"f>^\"> y",
        "<body\n\tdata-a = '<body>' b=\"\" >^x",
        "<body/>^x",
        "<!-- <body> --><body>^",
        "<!--><body>^ --><body>",
        "<!---><body>^",
        "<!-- a -- <body> -!> <body> --!><body>^",
        "<!-- a --!- <body> --><body>^",
        "<!--!><body>--><body>^",
        "<! <body><body>^",
        "<?xml '><body>^",
        "</ \"><body>^",
        "<title>a <body> </titles> </title ><body>^",
        "<style>/* <body> </style x='>'><body>^",
        "<textarea><body></TextArea><body>^",
        "<TEMPLATE><body></template><noscript><body></noscript><body>^",
        "<script>\"<body>\" // <!-- </script><body>^",
        "<script><!-- <script> </script> <body> --></script><body>^",
        "<script><!-- <script> </script> <body> </script><body>^",
        "<script src=a><!--></script><body>^",
        "<meta content='<body>'><meta content=<body><body>^",
        "<bodyguard><body-x></body><verylongnameofanelementbody><body>^",
        "a < b <<body>^",
        "<a =\"><body>^",
    ];

    /// As `closing` says, and as much as is shown of it.
    const OPEN: &[(&str, &str)] = &[
        ("", ""),
        ("<p>no tags", ""),
        ("<", ">"),
        ("<bod", ">"),
        ("<body class='a", "'>"),
        ("<body class=a", ">"),
        ("<!-- <body>", "-->"),
        ("<!--", "-->"),
        ("<!-- --!", "-->"),
        ("<!do", ">"),
        ("<!-", ">"),
        ("<script>x", "</script>"),
        ("<script", "></script>"),
        ("<script src=\"", "\"></script>"),
        ("<script><!-- <script>", "--></script>"),
        ("<textarea x='", "'></textarea>"),
        ("<title><body></tit", "</title>"),
    ];

    #[test]
    fn the_body_begins_where_browsers_begin_it_however_the_page_is_cut() {
        for page in PAGES {
            let (before, after) = page.split_once('^').unwrap();
            let whole = format!("{before}{after}");
            for cut in 0..=whole.len() {
                let mut scan = Scan::new();
                let (first, second) = whole.as_bytes().split_at(cut);
                let found = scan.body_begins(first).or_else(|| scan.body_begins(second).map(|at| at + cut));
                assert_eq!(found, Some(before.len()), "{whole} cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_open_at_the_end_is_closed() {
        for (page, closing) in OPEN {
            let mut scan = Scan::new();
            assert_eq!(scan.body_begins(page.as_bytes()), None, "{page}");
            assert_eq!(String::from_utf8(scan.closing()).unwrap(), *closing, "{page}");
        }
    }

    proptest! {
        #[test]
        fn any_page_is_read_alike_in_one_piece_and_in_many_and_can_be_closed(
            page in "(<|>|/|!|-|--|=|\"|'| |body|script|title|noscript|x|\\PC){0,60}",
        ) {
            let (mut whole, mut single) = (Scan::new(), Scan::new());
            let found = whole.body_begins(page.as_bytes());
            let one = page.bytes().position(|byte| single.body_begins(&[byte]).is_some()).map(|at| at + 1);
            prop_assert_eq!(found, one);
            if found.is_none() {
                let closing = whole.clone().closing();
                prop_assert!(closing.len() <= CLOSING);
                let closed = whole.body_begins(&closing).is_some() || whole.at == At::Text;
                prop_assert!(closed, "{}", page);
            }
        }
    }
}
