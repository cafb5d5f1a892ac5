//! `PyProf`: its CSV and its text, and what they share of columns, operators and counts.

mod columns;
mod counts;
mod known;
mod label;
mod operators;
mod repeats;
#[cfg(test)]
mod samples;
mod table;
mod tally;

formats! {
    csv,
    text,
}
