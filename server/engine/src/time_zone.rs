//! The zones that people can read times in: the IANA time zone database, as `chrono-tz` brings it along.

use chrono_tz::{TZ_VARIANTS, Tz};

/// The regions that name a place. Other names of the database are older spellings, or no place at all.
const REGIONS: [&str; 10] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
];

/// Every zone that names a place, as region and the whole name (`Europe`, `Europe/Berlin`), in order.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    TZ_VARIANTS.iter().filter_map(|zone| {
        let (region, _) = zone.name().split_once('/')?;
        REGIONS.contains(&region).then(|| (region, zone.name()))
    })
}

/// The zone of this name; `None`: there is none.
pub fn named(name: &str) -> Option<Tz> {
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_places_and_in_order() {
        let names: Vec<_> = all().map(|(_, name)| name).collect();
        assert!(names.contains(&"Europe/Berlin") && names.contains(&"America/Argentina/Buenos_Aires"));
        assert!(!names.contains(&"US/Pacific") && !names.contains(&"Etc/GMT+1") && names.is_sorted());
        assert!(names.iter().all(|name| named(name).is_some()));
        assert!(named("Europe/Nowhere").is_none() && named("UTC").is_some());
    }
}
