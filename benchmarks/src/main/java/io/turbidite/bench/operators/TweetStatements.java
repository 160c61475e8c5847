package io.turbidite.bench.operators;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Made tweets and those who wrote them, and what is asked of them. */
final class TweetStatements {
    static final String HASH_JOIN = "hash join tweets × users, sum by group";
    static final String LOOKUP_JOIN = "index nested-loop join, 1 % outer";
    static final String RECENT = "recent 1 % by filter, group";
    static final String EITHER = "or of two indexes, 0.2 %";
    static final String BOTH = "intersection of two indexes, 0.1 %";

    /** Each user has that many tweets, about. */
    private static final int TWEETS_OF_USER = 100;

    private static final int PLACES = 1_000;

    private final int count;
    private final int users;

    TweetStatements(int count) {
        this.count = count;
        this.users = Math.max(1, count / TWEETS_OF_USER);
    }

    Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put(
                HASH_JOIN,
                "select u.country, sum(t.length) as total from Tweets t join Users u on t.user_id = u.id group by u.country");
        texts.put(
                LOOKUP_JOIN,
                "select u.country, sum(t.length) as total from Users u join Tweets t on t.user_id = u.id where u.id < %d group by u.country"
                        .formatted(users / 100));
        texts.put(
                RECENT,
                "select place, count(*) as n from Tweets where sent >= %d group by place"
                        .formatted(count / 100 * 99));
        texts.put(
                EITHER,
                "select id, length from Tweets where place = 7 or user_id between %d and %d"
                        .formatted(users / 2, users / 2 + users / 1_000 - 1));
        // 3.2 % of each
        texts.put(
                BOTH,
                "select id, length from Tweets where place between 100 and 131 and user_id between %d and %d"
                        .formatted(users / 2, users / 2 + users * 32 / 1_000 - 1));
        return texts;
    }

    List<String> tables() {
        return List.of(
                "create table Tweets as select i as id, (hash(i) %% %d)::bigint as user_id, i as sent, (hash(i + 7) %% %d)::int as place, (hash(i + 13) %% 280)::int as length, 'tweet ' || repeat('x', (hash(i + 17) %% 50)::int) as message from range(%d) rows(i)"
                        .formatted(users, PLACES, count),
                "create table Users as select i as id, 'country' || hash(i) %% 50 as country, (hash(i + 5) %% 10000)::int as followers from range(%d) rows(i)"
                        .formatted(users));
    }

    static List<DatasetSpec> specs() {
        return List.of(
                DatasetSpec.named("Tweets")
                        .field("id", "int64")
                        .field("user_id", "int64")
                        .field("sent", "int64")
                        .field("place", "int32")
                        .field("length", "int32")
                        .field("message", "string")
                        .primaryKey("id")
                        .filter("sent")
                        .index(IndexSpec.btree("by_user", "user_id"))
                        .index(IndexSpec.btree("by_place", "place")),
                DatasetSpec.named("Users")
                        .field("id", "int64")
                        .field("country", "string")
                        .field("followers", "int32")
                        .primaryKey("id"));
    }
}
