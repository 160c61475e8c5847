package io.turbidite.bench.sql;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import java.util.List;

/**
 * Tweets with nested fields, arrays, nulls at each depth and fields that our dataset does not
 * declare ({@code extra}, {@code deep}, {@code nowhere}), their users, and places. Static.
 */
final class TweetTables {
    /** Makes and fills them in DuckDB. */
    static final List<String> TABLES = List.of("""
            create table Places as
            select ['Rome', 'Oslo', 'Bonn', 'Lyon', 'Graz', 'Bari'][i + 1] as city,
                case i when 0 then 'IT' when 5 then 'IT' when 1 then 'NO' when 2 then null else 'EU' end as country,
                case when i = 3 then null else (hash(i) % 900)::bigint end as size,
                case when i = 4 then null else (hash(i * 3) % 100)::double / 7 end as area
            from range(6) as r(i)""", """
            create table Users as
            select 'u' || i as name,
                case when i % 6 = 0 then null else ['en', 'de', 'fr', 'tr'][i % 4 + 1] end as lang,
                case when i % 11 = 0 then null else (hash(i * 5) % 9)::int end as level,
                date '2010-01-01' + (hash(i * 7) % 3000)::int as since,
                case when i % 8 = 0 then null else ((hash(i * 9) % 9000)::double / 1000)::decimal(10, 3) end as fee,
                case when i % 7 = 0 then null else ['Rome', 'Oslo', 'Bonn', 'Wien', 'Bari'][i % 5 + 1] end as city
            from range(60) as r(i)""", """
            create table Tweets as
            select i as id,
                case when i % 23 = 0 then null else {
                    'name': case when i % 9 = 0 then null else 'u' || hash(i) % 75 end,
                    'lang': ['en', 'de', 'fr', null][i % 4 + 1],
                    'rank': case when i % 5 = 0 then null else (hash(i * 3) % 40)::int end} end as user,
                case when i % 10 = 0 then null else
                    list_transform(range((hash(i * 5) % 4)::bigint), lambda x: 't' || hash(i * 7 + x) % 12) end as tags,
                timestamp '2020-01-01 00:00:00' + to_seconds((hash(i * 13) % 30000000)::bigint)
                    + to_microseconds((hash(i * 15) % 1000)::bigint) as posted,
                case when i % 21 = 0 then null else date '2020-01-01' + (hash(i * 17) % 400)::int end as day,
                case when i % 12 = 0 then null else ((hash(i * 11) % 100000)::double / 100)::decimal(12, 2) end as price,
                case when i % 14 = 0 then null else (hash(i * 19) % 1000)::double / 7 - 50 end as score,
                (hash(i * 21) % 60)::int - 10 as replies,
                case when i % 3 = 0 then null else (hash(i * 25) % 800)::bigint end as reply_to,
                case i % 4 when 0 then true when 1 then false when 2 then i % 8 = 2 end as loud,
                case i % 5 when 0 then null when 1 then 'abc' else ((hash(i * 23) % 60)::int - 9)::varchar end as extra,
                case when i % 4 = 0 then null else {'a': (hash(i * 27) % 30)::int, 'b': 'b' || i % 5} end as deep,
                case when i % 97 = 5 then {'x': 'n' || i % 3} end as nowhere
            from range(700) as r(i)""");

    /** The same as datasets. */
    static final List<DatasetSpec> SPECS = List.of(
            DatasetSpec.named("Places")
                    .field("city", "string")
                    .field("country", "string?")
                    .field("size", "int64?")
                    .field("area", "double?")
                    .primaryKey("city"),
            DatasetSpec.named("Users")
                    .field("name", "string")
                    .field("lang", "string?")
                    .field("level", "int32?")
                    .field("since", "date")
                    .field("fee", "decimal?")
                    .field("city", "string?")
                    .primaryKey("name")
                    .index(IndexSpec.btree("by_lang", "lang")),
            DatasetSpec.named("Tweets")
                    .field("id", "int64")
                    .field("user", "{name: string?, lang: string?, rank: int32?}?")
                    .field("tags", "[string]?")
                    .field("posted", "datetime")
                    .field("day", "date?")
                    .field("price", "decimal?")
                    .field("score", "double?")
                    .field("replies", "int32")
                    .field("reply_to", "int64?")
                    .field("loud", "bool?")
                    .primaryKey("id")
                    .index(IndexSpec.btree("by_name", "user.name"))
                    .index(IndexSpec.btree("by_price", "price"))
                    .index(IndexSpec.btree("by_day", "day", "replies")));

    static final RandomExpressions.Columns TWEETS = tweets(List.of(
            "t.user.name", "t.user.lang", "t.extra", "t.deep.b", "t.tags[1]", "t.nowhere.x"));

    /** Beside those of other tables, with which a field that is not declared joins by a cast. */
    static final RandomExpressions.Columns TWEETS_BESIDE_OTHERS =
            tweets(List.of("t.user.name", "t.user.lang", "cast(t.extra as varchar)", "t.tags[1]"));

    static final RandomExpressions.Columns USERS = new RandomExpressions.Columns(
            List.of("u.level"),
            List.of(),
            List.of("u.fee"),
            List.of("u.name", "u.lang", "u.city"),
            List.of("u.since"),
            List.of(),
            List.of());

    static final RandomExpressions.Columns PLACES = new RandomExpressions.Columns(
            List.of("p.size"),
            List.of("p.area"),
            List.of(),
            List.of("p.city", "p.country"),
            List.of(),
            List.of(),
            List.of());

    private TweetTables() {}

    private static RandomExpressions.Columns tweets(List<String> texts) {
        return new RandomExpressions.Columns(
                List.of(
                        "t.id",
                        "t.replies",
                        "t.user.rank",
                        "t.reply_to",
                        "cast(t.deep.a as integer)"),
                List.of("t.score"),
                List.of("t.price"),
                texts,
                List.of("t.day"),
                List.of("t.posted"),
                List.of("t.loud"));
    }
}
