//! Thrift's compact protocol, as far as Parquet's metadata need it.

// Types of Thrift's compact protocol.
pub(super) const INT: u8 = 5;
pub(super) const LONG: u8 = 6;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Thrift's compact protocol.
#[derive(Default)]
pub(super) struct Thrift {
    /// What has been written.
    pub(super) bytes: Vec<u8>,
    /// The last field of each struct that is open.
    last: Vec<i64>,
    current: i64,
}

impl Thrift {
    pub(super) fn field(&mut self, id: i64, kind: u8) {
        let step = id - self.current;
        if (1..=15).contains(&step) {
            self.bytes.push((step as u8) << 4 | kind);
        } else {
            self.bytes.push(kind);
            self.item(id);
        }
        self.current = id;
    }

    /// A number in a list, or after a field: zigzag.
    pub(super) fn item(&mut self, value: i64) {
        varint(&mut self.bytes, ((value << 1) ^ (value >> 63)) as u64);
    }

    pub(super) fn int(&mut self, id: i64, value: i64) {
        self.field(id, INT);
        self.item(value);
    }

    pub(super) fn long(&mut self, id: i64, value: i64) {
        self.field(id, LONG);
        self.item(value);
    }

    pub(super) fn word(&mut self, text: &str) {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.bytes());
    }

    pub(super) fn text(&mut self, id: i64, text: &str) {
        self.field(id, BINARY);
        self.word(text);
    }

    pub(super) fn list(&mut self, id: i64, kind: u8, count: usize) {
        self.field(id, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            varint(&mut self.bytes, count as u64);
        }
    }

    /// A struct as a field.
    pub(super) fn begin(&mut self, id: i64) {
        self.field(id, STRUCT);
        self.element();
    }

    /// A struct in a list.
    pub(super) fn element(&mut self) {
        self.last.push(self.current);
        self.current = 0;
    }

    pub(super) fn end(&mut self) {
        self.bytes.push(0);
        self.current = self.last.pop().unwrap_or(0);
    }
}

pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_those_of_thrift() {
        let mut bytes = Vec::new();
        varint(&mut bytes, 300);
        assert_eq!(bytes, [0xAC, 0x02]);
        let mut thrift = Thrift::default();
        [0, -1, 1, -2].into_iter().for_each(|value| thrift.item(value));
        assert_eq!(thrift.bytes, [0, 1, 2, 3]);
    }
}
