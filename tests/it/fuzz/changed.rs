//! Changed inputs for the fuzz targets, the same each time: libFuzzer's own follow what it sees of the program, in which
//! the keys of hash maps and the steps of threads have a part.

use super::targets::Target;

/// Most changes of an input: many little ones end in a refusal.
const CHANGES: usize = 4;

/// What tables, numbers and markup are made of.
const MARKS: &[u8] = b",;\t\n\r\"'.-+eE0189 ()[]{}:=/%\\\0\xff\xc2\xa0";

/// Texts that readers take for numbers, or nearly so.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "1e-320",
    "18446744073709551616",
    "4294967295",
    "nan",
    "inf",
    "1,234",
    "1.234,5",
    "0.000",
    "",
];

/// Changed inputs of a target without end, made of these, which are not none; each has its number.
pub(super) fn inputs(target: &Target, seeds: Vec<Vec<u8>>) -> impl Iterator<Item = Vec<u8>> {
    let name = target.name.bytes().fold(0, |sum: u64, byte| sum.rotate_left(5) ^ u64::from(byte));
    (0..).map(move |number: usize| {
        let mut random = fastrand::Rng::with_seed(name ^ (number as u64) << 40);
        let mut bytes = seeds[number % seeds.len()].clone();
        for _ in 0..random.usize(1..=CHANGES) {
            let other = &seeds[random.usize(..seeds.len())];
            change(&mut bytes, other, &mut random);
        }
        bytes.truncate(target.longest);
        bytes
    })
}

/// Changes something: bytes, a number, lines, or a part that another input has.
fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut fastrand::Rng) {
    let part = |length: usize, most: usize, random: &mut fastrand::Rng| {
        let start = random.usize(..=length);
        start..(start + random.usize(..=most)).min(length)
    };
    let own = part(bytes.len(), 32, random);
    match random.u8(..10) {
        0 if !bytes.is_empty() => {
            let at = random.usize(..bytes.len());
            bytes[at] ^= 1 << random.u8(..8);
        }
        1 if !bytes.is_empty() => {
            let at = random.usize(..bytes.len());
            bytes[at] = MARKS[random.usize(..MARKS.len())];
        }
        2 => {
            let (mark, times) = (MARKS[random.usize(..MARKS.len())], random.usize(1..=8));
            bytes.splice(own.start..own.start, std::iter::repeat_n(mark, times));
        }
        3 => drop(bytes.drain(own)),
        4 => {
            let again = bytes[own.clone()].to_vec();
            let at = random.usize(..=bytes.len());
            bytes.splice(at..at, again);
        }
        5 => {
            let taken = other[part(other.len(), 256, random)].to_vec();
            bytes.splice(own, taken);
        }
        // The rest from the other one, as where a file was cut off and another one follows.
        6 => {
            bytes.truncate(own.start);
            bytes.extend_from_slice(&other[random.usize(..=other.len())..]);
        }
        7 => {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let Some(first) = bytes[own.start..].iter().position(is_digit) else { return };
            let start = own.start + first;
            let length = bytes[start..].iter().take_while(|byte| is_digit(byte)).count();
            let number = NUMBERS[random.usize(..NUMBERS.len())];
            bytes.splice(start..start + length, number.bytes());
        }
        _ => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if lines.is_empty() {
                return;
            }
            let (one, two) = (random.usize(..lines.len()), random.usize(..lines.len()));
            match random.u8(..3) {
                0 => lines.swap(one, two),
                1 => drop(lines.remove(one)),
                _ => lines.insert(two, lines[one]),
            }
            *bytes = lines.concat();
        }
    }
}
