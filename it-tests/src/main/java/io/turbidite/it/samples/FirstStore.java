package io.turbidite.it.samples;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.range;

import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/** The example of the README. */
public final class FirstStore {
    private FirstStore() {}

    /** Opens a store, writes, asks, closes; returns how many tweets it found. */
    public static int run(Path directory) {
        int found = 0;
        // begin README
        try (Store store = Store.open(directory)) {
            Dataset tweets = store.openDataset(DatasetSpec.named("Tweets")
                    .field("id", "int64")
                    .field("user", "string?")
                    .field("sent", "datetime")
                    .primaryKey("id")
                    .filter("sent") // lets searches skip whole components
                    .index(IndexSpec.btree("by_user", "user")));
            tweets.upsertJson("""
                    {"id": 1, "user": "ann", "sent": "2026-11-21T10:00:00Z", "text": "hello"}""");
            tweets.upsert(Map.of("id", 2L, "user", "bob", "sent", Instant.now(), "likes", 3));
            try (QueryResult rows = Query.on(tweets)
                    .where(eq("user", "ann"))
                    .where(range("sent", Instant.parse("2026-11-01T00:00:00Z"), null))
                    .run()) {
                for (Map<String, ?> row : rows) {
                    System.out.println(row.get("text"));
                    found++;
                }
            }
        }
        // end README
        return found;
    }
}
