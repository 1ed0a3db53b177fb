//! A held call as a task.

use serde_json::{Value, json};

use super::fixture::{Client, House, LEGACY, NEWEST};

fn follows(house: &House, key: &str) -> Client {
    let both = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": { "url": {} } });
    house.client(key, NEWEST, both)
}

async fn created(client: &Client) -> (String, Value) {
    let task = client.tool("send_mail", json!({ "to": "bo" })).await;
    (task["taskId"].as_str().expect("a task").to_owned(), task)
}

async fn get(client: &Client, id: &str) -> Value {
    client.result("tasks/get", json!({ "taskId": id })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_call_is_a_task_until_it_ends() {
    let house = House::open().await;
    let client = follows(&house, &house.careful);
    let (id, task) = created(&client).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    assert!(task["statusMessage"].as_str().expect("words").contains(&format!("/inbox/{id}")));
    assert_eq!(get(&client, &id).await["status"], "working");
    house.confirm(&id).await;
    let ended = get(&client, &id).await;
    assert_eq!((&ended["resultType"], &ended["status"]), (&json!("complete"), &json!("completed")));
    assert_eq!(ended["result"]["structuredContent"], json!({ "id": "m1" }));
    assert_eq!(ended["result"]["isError"], false);
    let elsewhere = client.at(house.second_node().await);
    assert_eq!(get(&elsewhere, &id).await, ended, "any node answers");
    assert_eq!(house.writes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_completes_it_as_an_error() {
    let house = House::open().await;
    let client = follows(&house, &house.careful);
    let (id, _) = created(&client).await;
    house.decline(&id, "Not today.").await;
    let ended = get(&client, &id).await;
    assert_eq!((&ended["status"], &ended["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(ended["result"]["content"][0]["text"].as_str().expect("words").contains("Not today."));
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_withdraws() {
    let house = House::open().await;
    let client = follows(&house, &house.careful);
    let (id, _) = created(&client).await;
    let params = json!({ "taskId": id });
    let update = json!({ "taskId": id, "inputResponses": {} });
    assert_eq!(client.result("tasks/update", update).await, json!({ "resultType": "complete" }));
    assert_eq!(client.result("tasks/cancel", params.clone()).await, json!({ "resultType": "complete" }));
    assert_eq!(get(&client, &id).await["status"], "cancelled");
    assert_eq!(house.call(&id).await["status"], "withdrawn");
    assert_eq!(client.result("tasks/cancel", params).await, json!({ "resultType": "complete" }), "again");
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_somebody_else_is_none() {
    let house = House::open().await;
    let (id, _) = created(&follows(&house, &house.careful)).await;
    let other = follows(&house, &house.quick);
    let none = other.ask("tasks/get", json!({ "taskId": "nonsense" })).await;
    assert_eq!(none.json["error"]["code"], -32602);
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(other.ask(method, json!({ "taskId": id })).await.text, none.text, "{method}");
    }
    assert_eq!(house.call(&id).await["status"], "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_capability_has_to_be_said_in_the_request() {
    let house = House::open().await;
    let (id, _) = created(&follows(&house, &house.careful)).await;
    let refused = house.plain(&house.careful).ask("tasks/get", json!({ "taskId": id })).await;
    assert_eq!((refused.status, &refused.json["error"]["code"]), (400, &json!(-32021)));
    for version in LEGACY {
        let old = house.client(&house.careful, version, json!({}));
        assert!(old.ask("tasks/get", json!({ "taskId": id })).await.json["error"].is_object(), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_forgets_to_name_the_task_is_served_and_a_wrong_name_is_not() {
    let house = House::open().await;
    let client = follows(&house, &house.careful);
    let (id, _) = created(&client).await;
    let message = client.message("tasks/get", json!({ "taskId": id }));
    let named = async |name: Option<&str>| {
        let mut headers = client.headers("tasks/get");
        headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        client.send_unnamed(&message, &headers).await
    };
    assert_eq!(named(None).await.json["result"]["taskId"], json!(id));
    let wrong = named(Some("call_01h455vb4pex5vsknk084sn02q")).await;
    assert_eq!((wrong.status, &wrong.json["error"]["code"]), (400, &json!(-32020)));
}
