//! What admins do with other people's accounts, how people are invited, and how the first of them comes.

#[macro_use]
mod desk;

use desk::Desk;
use engine::PersonActor;
use engine::invitation::{GOOD_FOR, InvitationWanted};
use engine::registry::PersonWanted;
use model::{Person, Refusal, Role};
use serde_json::json;

const PASSWORD: &str = "fetch-bexar-wantn";

async fn admin(desk: &Desk, name: &str) -> Person {
    let email = format!("{}@desk.test", name.to_lowercase());
    let wanted = PersonWanted { email, name: name.to_owned(), roles: vec![Role::Admin], password: None };
    let person = desk.engine.add_person(wanted).await.expect("a person");
    // A password that nobody is to type costs no time.
    let sql = format!("UPDATE persons SET password_hash = 'x' WHERE id = '{}'", person.id);
    desk.database.run(&sql).await.expect("a password");
    person
}

fn wanted(email: &str) -> InvitationWanted {
    InvitationWanted { email: email.to_owned(), name: " Eve ".to_owned(), roles: vec![Role::Operator] }
}

async fn invited(desk: &Desk, ada: &PersonActor, email: &str) -> String {
    desk.engine.invite(ada, wanted(email)).await.expect("invited").1.reveal().to_owned()
}

on_both! {
    async fn an_invitation_makes_its_person_once(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        let link = invited(&desk, &ada, " Eve@Desk.test").await;
        // To look changes nothing, and too weak a password neither.
        for _ in 0..3 {
            let offered = engine.invitation(&link).await.expect("good");
            assert_eq!((offered.email.as_str(), offered.name.as_str()), ("eve@desk.test", "Eve"));
        }
        assert!(matches!(engine.accept_invitation(&link, "eve@desk.test").await, Err(Refusal::Invalid(_))));
        assert_eq!(engine.invitations(&ada).await.expect("invitations").len(), 1);
        let joined = engine.accept_invitation(&link, PASSWORD).await.expect("joined");
        let eve = engine.visitor(joined.person).await.expect("storage").expect("Eve");
        assert_eq!(eve.person().roles, [Role::Member, Role::Operator]);
        assert_eq!(engine.invitations(&ada).await.expect("invitations"), []);
        let again = engine.accept_invitation(&link, PASSWORD).await;
        assert_eq!(again, Err(Refusal::NotFound));
        assert_eq!(engine.invitation(&link).await, Err(Refusal::NotFound));
        assert!(engine.sign_in("eve@desk.test", PASSWORD, None).await.expect("looked at").is_some());
        assert!(engine.authenticate(&link).await.is_err(), "it is no token");
    }
}

on_both! {
    async fn of_two_uses_at_once_one_counts(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        let link = invited(&desk, &ada, "eve@desk.test").await;
        let other = desk.second_node().await;
        let (one, two) = tokio::join!(engine.accept_invitation(&link, PASSWORD), other.accept_invitation(&link, "sherd-knapt-fower"));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        let lost = if one.is_err() { one } else { two };
        assert_eq!(lost, Err(Refusal::NotFound));
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM persons WHERE email = 'eve@desk.test'").await, 1);
    }
}

on_both! {
    async fn an_invitation_lapses_is_withdrawn_and_is_worth_what_its_admin_may(desk: Desk) {
        let engine = &desk.engine;
        let bea = admin(&desk, "Bea").await;
        let (ada, bea_here) = (desk.visitor(&admin(&desk, "Ada").await).await, desk.visitor(&bea).await);
        let first = invited(&desk, &ada, "eve@desk.test").await;
        let second = invited(&desk, &ada, "eve@desk.test").await;
        assert_eq!(engine.invitation(&first).await, Err(Refusal::NotFound), "the newer one counts");
        let id = engine.invitation(&second).await.expect("good").id;
        assert_eq!(engine.withdraw_invitation(&ada, id).await, Ok(true));
        assert_eq!(engine.withdraw_invitation(&ada, id).await, Ok(false));
        assert_eq!(engine.accept_invitation(&second, PASSWORD).await, Err(Refusal::NotFound));
        let of_bea = invited(&desk, &bea_here, "eve@desk.test").await;
        engine.set_roles(&ada, bea.id, &[]).await.expect("changed");
        assert_eq!(engine.accept_invitation(&of_bea, PASSWORD).await, Err(Refusal::NotFound));
        let late = invited(&desk, &ada, "eve@desk.test").await;
        desk.pass(GOOD_FOR - 60);
        engine.invitation(&late).await.expect("good");
        desk.pass(60);
        assert_eq!(engine.accept_invitation(&late, PASSWORD).await, Err(Refusal::NotFound));
        engine.erase().await.expect("erased");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM invitations").await, 0);
        let links = ["", "cin_", "cin_000000000000000000000000000000000000", &second[..20]];
        for link in links {
            assert_eq!(engine.invitation(link).await, Err(Refusal::NotFound), "{link}");
        }
    }
}

on_both! {
    /// Whoever gets the right back to invite does not get the links back that somebody may have kept.
    async fn an_invitation_does_not_come_back_with_its_admin(desk: Desk) {
        let engine = &desk.engine;
        let (ada, bea) = (admin(&desk, "ada").await, admin(&desk, "bea").await);
        let (ada, bea_here) = (desk.visitor(&ada).await, desk.visitor(&bea).await);
        let disabled = invited(&desk, &bea_here, "kim@desk.test").await;
        engine.disable(&ada, bea.id).await.expect("disabled");
        engine.enable(&ada, bea.id).await.expect("again");
        let demoted = invited(&desk, &desk.visitor(&bea).await, "lou@desk.test").await;
        engine.set_roles(&ada, bea.id, &[]).await.expect("changed");
        engine.set_roles(&ada, bea.id, &[Role::Admin]).await.expect("changed");
        for token in [disabled, demoted] {
            assert_eq!(engine.invitation(&token).await, Err(Refusal::NotFound));
        }
    }
}

on_both! {
    async fn admins_alone_invite_and_never_somebody_who_is_there(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        for (email, name, fields) in [("ann@desk.test", "Ann", "/email"), ("nowhere", " ", "/email /name")] {
            let wanted = InvitationWanted { email: email.to_owned(), name: name.to_owned(), roles: vec![] };
            let Err(Refusal::Invalid(errors)) = engine.invite(&ada, wanted).await else { panic!("{email}") };
            assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>().join(" "), fields);
        }
        let link = invited(&desk, &ada, "eve@desk.test").await;
        let wanted_then = PersonWanted { email: "eve@desk.test".to_owned(), name: "Eve".to_owned(), roles: vec![], password: None };
        engine.add_person(wanted_then).await.expect("a person");
        assert!(matches!(engine.accept_invitation(&link, PASSWORD).await, Err(Refusal::Invalid(_))), "she came another way");
        for person in [&desk.ann, &desk.max, &desk.olga] {
            let me = desk.visitor(person).await;
            assert_eq!(engine.invite(&me, wanted("new@desk.test")).await.err(), Some(Refusal::NotFound));
            assert_eq!(engine.invitations(&me).await.err(), Some(Refusal::NotFound));
            assert_eq!(engine.set_roles(&me, person.id, &[Role::Admin]).await, Err(Refusal::NotFound));
            assert_eq!(engine.disable(&me, desk.ann.id).await, Err(Refusal::NotFound));
            assert_eq!(engine.enable(&me, desk.ann.id).await, Err(Refusal::NotFound));
            assert_eq!(engine.disabling(&me, desk.ann.id).await, Err(Refusal::NotFound));
            let sees = engine.person(&me, desk.ann.id).await.is_ok();
            assert_eq!(sees, person.id == desk.olga.id);
        }
        // Nor an admin's token.
        let (_, token) = engine.make_own_token(&ada, vec![model::Ability::AgentsManage], None).await.expect("a token");
        let Ok(engine::Actor::Person(bearer)) = engine.authenticate(token.reveal()).await else { panic!("a person") };
        assert_eq!(engine.invite(&bearer, wanted("new@desk.test")).await.err(), Some(Refusal::Denied));
        assert_eq!(engine.set_roles(&bearer, desk.ann.id, &[]).await, Err(Refusal::Denied));
    }
}

on_both! {
    async fn somebody_who_manages_people_is_always_left(desk: Desk) {
        let engine = &desk.engine;
        let (ada, bea) = (admin(&desk, "Ada").await, admin(&desk, "Bea").await);
        let (ada_here, bea_here) = (desk.visitor(&ada).await, desk.visitor(&bea).await);
        let other = desk.second_node().await;
        for _ in 0..4 {
            let (one, two) = tokio::join!(engine.set_roles(&ada_here, bea.id, &[]), other.set_roles(&bea_here, ada.id, &[]));
            let refused = [&one, &two].into_iter().filter(|came| matches!(came, Err(Refusal::Invalid(_)))).count();
            assert_eq!(refused, 1, "{one:?} {two:?}");
            for (me, person) in [(&ada_here, &bea), (&bea_here, &ada)] {
                engine.set_roles(me, person.id, &[Role::Admin]).await.expect("again");
            }
            let (one, two) = tokio::join!(engine.disable(&ada_here, bea.id), other.disable(&bea_here, ada.id));
            let refused = [&one, &two].into_iter().filter(|came| matches!(came, Err(Refusal::Invalid(_)))).count();
            assert_eq!(refused, 1, "{one:?} {two:?}");
            for (me, person) in [(&ada_here, &bea), (&bea_here, &ada)] {
                engine.enable(me, person.id).await.expect("again");
            }
        }
        engine.disable(&ada_here, bea.id).await.expect("disabled");
        assert!(matches!(engine.disable(&ada_here, ada.id).await, Err(Refusal::Invalid(_))));
        assert!(matches!(engine.set_roles(&ada_here, ada.id, &[Role::Operator]).await, Err(Refusal::Invalid(_))));
        let left = desk.visitor(&ada).await;
        assert_eq!(left.person().roles, [Role::Member, Role::Admin], "nothing was changed");
    }
}

on_both! {
    /// The command line too leaves somebody who can manage people; where there never was one, it takes nobody away.
    async fn the_command_line_keeps_the_last_admin_too(desk: Desk) {
        let engine = &desk.engine;
        assert_eq!(engine.disable_person("olga@desk.test").await, Ok(true), "nobody is an admin here");
        assert_eq!(engine.enable_person("OLGA@desk.test").await, Ok(true));
        assert_eq!(engine.enable_person("olga@desk.test").await, Ok(false));
        let ada = admin(&desk, "Ada").await;
        for _ in 0..2 {
            assert!(matches!(engine.disable_person("ada@desk.test").await, Err(Refusal::Invalid(_))));
            assert!(matches!(engine.set_roles_of("ada@desk.test", &[Role::Operator]).await, Err(Refusal::Invalid(_))));
            assert_eq!(desk.visitor(&ada).await.person().roles, [Role::Member, Role::Admin]);
        }
        engine.set_roles_of("Max@desk.test", &[Role::Admin, Role::Approver]).await.expect("changed");
        assert_eq!(desk.visitor(&desk.max).await.person().roles, [Role::Member, Role::Approver, Role::Admin]);
        let other = desk.second_node().await;
        let (one, two) = tokio::join!(engine.disable_person("ada@desk.test"), other.disable_person("max@desk.test"));
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert_eq!(engine.disable_person("olga@desk.test").await, Ok(true), "she is none");
        for email in ["nobody@desk.test", ""] {
            assert_eq!(engine.disable_person(email).await, Err(Refusal::NotFound));
            assert_eq!(engine.enable_person(email).await, Err(Refusal::NotFound));
            assert_eq!(engine.set_roles_of(email, &[]).await, Err(Refusal::NotFound));
        }
    }
}

on_both! {
    /// Wherever a name comes in; what is there already is shown with what hides in it named.
    async fn a_name_that_hides_something_and_an_address_that_is_none_are_refused_at_the_door(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        let fields = |came: Result<(), Refusal>| match came {
            Err(Refusal::Invalid(errors)) => errors.iter().map(|error| error.field.clone()).collect::<Vec<_>>().join(" "),
            other => panic!("{other:?}"),
        };
        let (name, email) = ("Ann\u{200b}".to_owned(), "<eve@desk.test>".to_owned());
        let person = PersonWanted { email: email.clone(), name: name.clone(), roles: vec![], password: None };
        assert_eq!(fields(engine.add_person(person).await.map(drop)), "/email /name");
        let guest = InvitationWanted { email: email.clone(), name: name.clone(), roles: vec![] };
        assert_eq!(fields(engine.invite(&ada, guest).await.map(drop)), "/email /name");
        assert_eq!(fields(engine.change_account(&ada, &name, None).await), "/name");
        for table in ["person_roles", "keys", "agents", "invitations", "persons"] {
            desk.database.run(&format!("DELETE FROM {table}")).await.expect("emptied");
        }
        let link = engine.set_up_link().await.expect("storage").expect("a link");
        assert_eq!(fields(engine.set_up(link.reveal(), &email, &name, PASSWORD).await.map(drop)), "/email /name");
    }
}

on_both! {
    async fn disabling_does_what_it_says_and_enabling_what_is_left(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        engine.set_password("ann@desk.test", PASSWORD).await.expect("set");
        let id = desk.held(desk.careful("send_mail", json!({"to": "a@b.test", "body": "B"})).await).await;
        let ann = desk.visitor(&desk.ann).await;
        let (_, token) = engine.make_own_token(&ann, vec![model::Ability::ReceiptsRead], None).await.expect("a token");
        let says = engine.disabling(&ada, desk.ann.id).await.expect("counted");
        assert_eq!((says.sessions, says.tokens, says.agents, says.withdrawn, says.handed_over), (0, 1, 2, 1, 0));
        assert_eq!(engine.disable(&ada, desk.ann.id).await, Ok(true));
        assert_eq!(engine.disable(&ada, desk.ann.id).await, Ok(false));
        assert!(engine.authenticate(token.reveal()).await.is_err() && engine.authenticate(&desk.careful).await.is_err());
        assert_eq!(desk.ended_for(&desk.olga, id).await.status, model::CallStatus::Withdrawn);
        assert_eq!(engine.enable(&ada, desk.ann.id).await, Ok(true));
        assert_eq!(engine.enable(&ada, desk.ann.id).await, Ok(false));
        assert!(engine.authenticate(token.reveal()).await.is_ok() && engine.authenticate(&desk.careful).await.is_ok());
        assert!(engine.sign_in("ann@desk.test", PASSWORD, None).await.expect("looked at").is_some());
    }
}

on_both! {
    async fn what_is_handed_over_is_counted_as_it_is_done(desk: Desk) {
        let engine = &desk.engine;
        let ada = desk.visitor(&admin(&desk, "Ada").await).await;
        desk.reload_with(
            "[[action]]\nname = \"ask_max\"\ntitle = \"T\"\ndescription = \"D\"\neffect = \"write\"\napprovers = [\"person:max@desk.test\"]\ninput = { type = \"object\", properties = {} }\nrequest = { method = \"POST\", url = \"https://a.test/\" }\n",
        );
        for _ in 0..3 {
            desk.held(desk.careful("ask_max", json!({})).await).await;
        }
        let says = engine.disabling(&ada, desk.max.id).await.expect("counted");
        assert_eq!((says.withdrawn, says.handed_over), (0, 3));
        engine.disable(&ada, desk.max.id).await.expect("disabled");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM call_approvers WHERE subject = 'role:operator'").await, 3);
    }
}

on_both! {
    async fn the_first_admin_is_made_once_and_while_nobody_is_there(desk: Desk) {
        let engine = &desk.engine;
        assert!(engine.set_up_link().await.expect("storage").is_none(), "people are there");
        for table in ["person_roles", "keys", "agents", "persons"] {
            desk.database.run(&format!("DELETE FROM {table}")).await.expect("emptied");
        }
        let first = engine.set_up_link().await.expect("storage").expect("a link");
        let second = engine.set_up_link().await.expect("storage").expect("another start, another link");
        for link in [&first, &second] {
            engine.may_set_up(link.reveal()).await.expect("both are good");
        }
        assert_eq!(engine.may_set_up("cin_nonsense").await, Err(Refusal::NotFound));
        let Err(Refusal::Invalid(errors)) = engine.set_up(first.reveal(), "x", "", "short").await else { panic!("invalid") };
        assert_eq!(errors.len(), 3);
        let other = desk.second_node().await;
        let (one, two) = tokio::join!(
            engine.set_up(first.reveal(), "ada@desk.test", "Ada", PASSWORD),
            other.set_up(second.reveal(), "eve@desk.test", "Eve", PASSWORD),
        );
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM persons").await, 1);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM person_roles WHERE role = 'admin'").await, 1);
        for link in [&first, &second] {
            assert_eq!(engine.may_set_up(link.reveal()).await, Err(Refusal::NotFound));
        }
        assert!(engine.set_up_link().await.expect("storage").is_none());
    }
}

on_both! {
    async fn a_link_is_worth_nothing_once_somebody_is_there(desk: Desk) {
        for table in ["person_roles", "keys", "agents", "persons"] {
            desk.database.run(&format!("DELETE FROM {table}")).await.expect("emptied");
        }
        let link = desk.engine.set_up_link().await.expect("storage").expect("a link");
        admin(&desk, "Ada").await;
        assert_eq!(desk.engine.may_set_up(link.reveal()).await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.set_up(link.reveal(), "eve@desk.test", "Eve", PASSWORD).await, Err(Refusal::NotFound));
    }
}

on_both! {
    /// What came in while its owner was being disabled, or was left by a process that was stopped, is withdrawn, and does not
    /// come back with them.
    async fn calls_of_somebody_who_is_gone_are_withdrawn_whoever_was_to_do_it(desk: Desk) {
        let engine = &desk.engine;
        let mail = || json!({"to": "a@b.test", "body": "B"});
        let left = desk.held(desk.careful("send_mail", mail()).await).await;
        let owner = format!("UPDATE persons SET disabled_at = {} WHERE email = 'ann@desk.test'", engine.now().micros());
        desk.database.run(&owner).await.expect("disabled");
        engine.withdraw_of_ended().await.expect("the job runs");
        assert_eq!(desk.ended_for(&desk.olga, left).await.status, model::CallStatus::Withdrawn);
        desk.database.run("UPDATE persons SET disabled_at = NULL").await.expect("enabled");
        let due = desk.held(desk.careful("undoable", json!({ "to": "a@b.test" })).await).await;
        desk.confirms(&desk.ann, due).await.expect("recorded");
        desk.database.run(&owner).await.expect("disabled");
        desk.pass(60);
        engine.send_due_calls().await.expect("the job runs");
        assert_eq!(desk.ended_for(&desk.olga, due).await.status, model::CallStatus::Withdrawn);
        assert!(desk.upstream.writes().is_empty());
        desk.database.run("UPDATE persons SET disabled_at = NULL").await.expect("enabled");
        let back = desk.held(desk.careful("send_mail", mail()).await).await;
        desk.database.run(&owner).await.expect("disabled");
        assert_eq!(engine.enable_person("ann@desk.test").await, Ok(true));
        assert_eq!(desk.ended_for(&desk.olga, back).await.status, model::CallStatus::Withdrawn);
        let kept = desk.held(desk.careful("send_mail", mail()).await).await;
        engine.withdraw_of_ended().await.expect("the job runs");
        assert_eq!(desk.stands_at(&desk.ann, kept).await, model::CallStatus::Held);
    }
}

on_both! {
    /// An admin without a way to sign in manages nobody.
    async fn an_admin_who_cannot_sign_in_is_not_the_one_who_is_left(desk: Desk) {
        let engine = &desk.engine;
        admin(&desk, "Ada").await;
        let bea = PersonWanted { email: "bea@desk.test".to_owned(), name: "Bea".to_owned(), roles: vec![Role::Admin], password: None };
        engine.add_person(bea).await.expect("a person");
        assert!(matches!(engine.disable_person("ada@desk.test").await, Err(Refusal::Invalid(_))));
        assert!(matches!(engine.set_roles_of("ada@desk.test", &[]).await, Err(Refusal::Invalid(_))));
        engine.set_password("bea@desk.test", PASSWORD).await.expect("set");
        assert_eq!(engine.disable_person("ada@desk.test").await, Ok(true));
    }
}
