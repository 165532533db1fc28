//! Who imports whom, and who knows which library.

use super::none;
use super::source::{modules, paths, room_of};
use super::table::{OWNED, ROOMS};

#[test]
fn rooms_import_only_what_their_row_allows() {
    let mut broken = Vec::new();
    for module in modules().iter().filter(|module| !module.is_test) {
        let from = room_of(&module.path);
        let may = ROOMS.iter().find(|room| room.name == from).map_or(&[][..], |room| room.may);
        for path in paths(module).iter().filter(|path| path.first().is_some_and(|first| first == "crate")) {
            let to = room_of(&path[1..]);
            if !(to.is_empty() || to == from || may.contains(&to)) {
                let file = module.file.display();
                broken.push(format!("{file} (room `{from}`) names {}: it may import from {}", path.join("::"), may.join(", ")));
            }
        }
    }
    none("Imports against the arrows (see ROOMS in tests/it/architecture/table.rs):", &broken);
}

#[test]
fn libraries_are_known_only_in_their_rooms() {
    let mut broken = Vec::new();
    for module in modules().iter().filter(|module| !module.is_test) {
        let from = room_of(&module.path);
        for path in paths(module) {
            let owners = OWNED.iter().find(|(library, _)| path.first().is_some_and(|first| first == library));
            if let Some((library, owners)) = owners.filter(|(_, owners)| !owners.contains(&from)) {
                broken.push(format!("{} (room `{from}`) names {library}: only {} may", module.file.display(), owners.join(", ")));
            }
        }
    }
    broken.dedup();
    none("Libraries outside their rooms (see OWNED in tests/it/architecture/table.rs):", &broken);
}

#[test]
fn arrows_between_rooms_of_a_process_never_form_a_circle() {
    // Inside `gateway::web` the files at its top (addresses, errors, the page) are shared by its rooms: no layer of its own.
    let layers: Vec<_> = ROOMS.iter().filter(|room| !room.name.starts_with("gateway::web")).collect();
    let mut settled: Vec<&str> = ROOMS.iter().map(|room| room.name).filter(|name| name.starts_with("gateway::web")).collect();
    loop {
        let before = settled.len();
        for room in &layers {
            if !settled.contains(&room.name) && room.may.iter().all(|to| settled.contains(to)) {
                settled.push(room.name);
            }
        }
        if settled.len() == before {
            break;
        }
    }
    let circle: Vec<String> =
        layers.iter().filter(|room| !settled.contains(&room.name)).map(|room| room.name.to_owned()).collect();
    none("These rooms import each other in a circle:", &circle);
}
