//! Refreshing tokens, seen from outside: several gateways, one provider that uses refresh tokens up.

use futures_util::future::join_all;

use crate::support::replicas::Replicas;

/// Opens the list of tasks many times at once, over all gateways.
async fn at_once(replicas: &Replicas, browser: &crate::support::client::Browser, count: usize) -> Vec<u16> {
    let asked = (0..count).map(|index| {
        let mut tab = browser.clone();
        let url = format!("{}/tasks", replicas.all[index % replicas.all.len()].url);
        async move { tab.get(&url).await.status.as_u16() }
    });
    join_all(asked).await
}

#[tokio::test]
async fn many_requests_at_the_expiry_make_one_refresh_and_all_get_the_new_token() {
    let replicas = Replicas::on_redis().await;
    replicas.provider.state().lifetime = Some(1);
    let browser = replicas.signed_in().await;
    replicas.provider.state().lifetime = Some(3600);
    replicas.service.desk().calls.clear();
    let before = replicas.provider.seen();
    let statuses = at_once(&replicas, &browser, 40).await;
    assert!(statuses.iter().all(|&status| status == 200), "{statuses:?}");
    let seen = replicas.provider.seen();
    assert_eq!((seen.asked - before.asked, seen.reused), (1, 0), "{seen:?}");
    let calls = replicas.service.desk().calls.clone();
    assert!(calls.iter().all(|call| replicas.provider.is_newest(&call.bearer)), "{calls:?}");
}
