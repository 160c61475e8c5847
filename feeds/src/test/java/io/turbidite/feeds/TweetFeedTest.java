package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.type.Point;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The tweets of ALS15's Figure 1, declared and loaded as a feed: nested records and arrays. */
class TweetFeedTest {
    private static final String DATASET = """
            feed: tweets
            dataset:
              name: Tweets
              type:
                tweetid: int64
                user:
                  screen-name: string
                  lang: string
                  friends_count: int32
                  statuses_count: int32
                  name: string
                  followers_count: int32
                sender-location: point?
                send-time: datetime
                hashtags: [string]
                message-text: string
                userid: int32
              primaryKey: tweetid
              filter: send-time
              partitions: 2
              indexes:
                - { name: by_tag, kind: btree, on: "hashtags[]" }
                - { name: by_lang, kind: btree, on: [user.lang, send-time] }
                - { name: by_place, kind: rtree, on: sender-location }
            """;

    private static final String JSON = """
            {"tweetid":1,"user":{"screen-name":"a","lang":"en","friends_count":1,"statuses_count":2,"name":"Ann","followers_count":3,"verified":true},"sender-location":[38.6,-84.0],"send-time":"2016-11-05T10:00:00Z","hashtags":["Hillary Clinton","ohio","ohio"],"message-text":"vote","userid":7}
            {"tweetid":2,"user":{"screen-name":"b","lang":"de","friends_count":1,"statuses_count":2,"name":"Bea","followers_count":3},"send-time":"2016-11-05T11:00:00Z","hashtags":[],"message-text":"no tags","userid":8,"retweets":5}
            {"tweetid":3,"user":{"screen-name":"c","lang":"en","friends_count":1,"statuses_count":2,"name":"Cy"},"send-time":"2016-11-05T11:00:00Z","hashtags":[],"message-text":"no followers","userid":8}
            {"tweetid":4,"user":{"screen-name":"d","lang":"en","friends_count":1,"statuses_count":2,"name":"Di","followers_count":3},"send-time":"2016-11-05T11:00:00Z","hashtags":["a",5],"message-text":"","userid":8}
            """;

    @TempDir
    private Path directory;

    private @Nullable Store store;

    private Store store() {
        Store open = store;
        if (open == null) {
            open = Store.open(directory.resolve("store"), StoreOptions.defaults());
            store = open;
        }
        return open;
    }

    @AfterEach
    void closeStore() {
        if (store != null) {
            assertThat(store.verify().errors()).isEmpty();
            store.close();
        }
    }

    private FeedReport run(String definition) throws IOException {
        Files.writeString(directory.resolve("feed.yaml"), definition);
        FeedDefinition loaded = FeedDefinition.load(directory.resolve("feed.yaml"));
        try (Feed feed = Feed.open(loaded, store())) {
            return feed.run(FeedProgress.none());
        }
    }

    private Map<String, @Nullable Object> get(long id) {
        return Objects.requireNonNull(store().dataset("Tweets").get(id));
    }

    private void reopen() {
        store().close();
        store = null;
    }

    @Test
    void figure1IsLoadedFromJson() throws IOException {
        Files.writeString(directory.resolve("tweets.json"), JSON);
        FeedReport report = run(DATASET + """
                source: { kind: file, path: tweets.json }
                parser: { kind: json }
                """);
        assertThat(report.records()).isEqualTo(2);
        assertThat(Files.readAllLines(Path.of(Objects.requireNonNull(report.deadLetters()))))
                .hasSize(2)
                .first()
                .asString()
                .contains("field 'user.followers_count': a required field is missing");
        assertThat(Files.readString(Path.of(report.deadLetters())))
                .contains("field 'hashtags[1]': type string is written as a string");
        reopen();
        assertThat(get(1))
                .containsEntry("hashtags", List.of("Hillary Clinton", "ohio", "ohio"))
                .containsEntry("sender-location", new Point(38.6, -84))
                .containsEntry("send-time", Instant.parse("2016-11-05T10:00:00Z"))
                .containsEntry(
                        "user",
                        Map.of(
                                "screen-name",
                                "a",
                                "lang",
                                "en",
                                "friends_count",
                                1,
                                "statuses_count",
                                2,
                                "name",
                                "Ann",
                                "followers_count",
                                3,
                                "verified",
                                true));
        assertThat(get(2)).containsEntry("hashtags", List.of()).containsEntry("retweets", 5L);
    }

    @Test
    void figure1IsLoadedFromCsvWithJsonInItsColumns() throws IOException {
        Files.writeString(directory.resolve("tweets.csv"), """
                tweetid,user,sender-location,send-time,hashtags,message-text,userid
                1,"{""screen-name"":""a"",""lang"":""en"",""friends_count"":1,""statuses_count"":2,""name"":""Ann"",""followers_count"":3}","[38.6,-84]",2016-11-05T10:00:00Z,"[""ohio"", ""späť""]",vote,7
                2,{,,2016-11-05T10:00:00Z,[],x,7
                3,,,2016-11-05T10:00:00Z,[],x,7
                """);
        FeedReport report = run(DATASET + """
                source: { kind: file, path: tweets.csv }
                parser: { kind: csv }
                """);
        assertThat(report.records()).isEqualTo(1);
        assertThat(get(1)).containsEntry("hashtags", List.of("ohio", "späť"));
        assertThat(Files.readString(Path.of(Objects.requireNonNull(report.deadLetters()))))
                .contains("field 'user': the text is not JSON")
                .contains("field 'user': it is empty, but required");
    }

    @Test
    void membersOfANestedRecordMayBeColumns() throws IOException {
        Files.writeString(directory.resolve("tweets.csv"), """
                tweetid,user.lang,user.screen-name,user.friends_count,user.statuses_count,user.name,user.followers_count,send-time,hashtags,message-text,userid
                1,en,a,1,2,Ann,3,2016-11-05T10:00:00Z,[],vote,7
                """);
        FeedReport report = run(DATASET + """
                source: { kind: file, path: tweets.csv }
                parser: { kind: csv }
                """);
        assertThat(report.records()).isEqualTo(1);
        assertThat((Map<?, ?>) get(1).get("user")).hasSize(6);
    }

    @Test
    void aDefinitionThatDoesNotFitNamesThePath() {
        assertThatThrownBy(() -> run(DATASET.replace("filter: send-time", "filter: hashtags[]")
                        .replace("primaryKey: tweetid", "primaryKey: user")
                        .replace("lang: string", "lang: strin")
                        .replace("message-text: string", "message-text: [string, int8]")))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("dataset.type.user.lang is wrong: unknown type 'strin'")
                .hasMessageContaining("dataset.type.message-text must name one simple type");
        assertThatThrownBy(() -> run(DATASET.replace("filter: send-time", "filter: hashtags[]")
                        .replace("primaryKey: tweetid", "primaryKey: user")
                        .replace("on: \"hashtags[]\"", "on: hashtags")))
                .hasMessageContaining("filter names 'hashtags[]', the elements of an array")
                .hasMessageContaining("primaryKey names the record 'user'")
                .hasMessageContaining("on names the array 'hashtags'");
    }
}
