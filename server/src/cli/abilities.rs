//! Abilities on a command line.

use model::Ability;

/// An ability that a person's token may carry.
pub(super) fn of_person(text: &str) -> Result<Ability, String> {
    text.parse().map_err(|_| format!("an ability is one of: {}", listed(Ability::ALL)))
}

/// An ability that an agent's key may carry: deciding is for people.
pub(super) fn of_agent(text: &str) -> Result<Ability, String> {
    let allowed: Vec<Ability> =
        Ability::ALL.iter().copied().filter(|a| *a != Ability::ApprovalsDecide).collect();
    let ability = text.parse().ok().filter(|ability| allowed.contains(ability));
    ability.ok_or_else(|| format!("an agent's ability is one of: {}", listed(&allowed)))
}

/// As words in a row.
fn listed(abilities: &[Ability]) -> String {
    abilities.iter().map(|ability| ability.as_str()).collect::<Vec<_>>().join(", ")
}
