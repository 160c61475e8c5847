package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.kafka.MessageFields.KeyFormat;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** What definitions may say, and what becomes of a message, without a broker. */
class KafkaKindTest {
    private static final String GOOD = """
            feed: f
            dataset:
              name: D
              type: { id: string }
              primaryKey: id
            source:
              kind: kafka
              bootstrap: "127.0.0.1:9092"
              topics: a
              group: g
              start: earliest
            parser: { kind: json }
            """;

    @TempDir
    Path directory;

    private FeedDefinition read(String what, String by) {
        assertThat(GOOD).contains(what);
        return FeedDefinition.parse("f.yaml", directory, GOOD.replace(what, by));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "start: earliest | start: yesterday | 11: source.start | 'yesterday' is not earliest",
                "start: earliest | onGap: jump | 11: source.onGap | 'jump' is not fail",
                "start: earliest | keyFormat: avro | 11: source.keyFormat | 'avro' is not text",
                "topics: a | topics: 'a, b c' | 9: source.topics | 'b c' is no name of a topic",
                "group: g | member: m | 6: source.group | is missing",
                "127.0.0.1:9092 | 127.0.0.1 | 8: source.bootstrap | '127.0.0.1' is no broker",
                "start: earliest | group.protocol: classic | 11: source.group.protocol | is an unknown key",
                "start: earliest | sasl.jaas.config: 'a password=hunter2;' | 11: source.sasl.jaas.config | ${env:NAME} or ${file:PATH}",
                "start: earliest | ssl.key.password: hunter2 | 11: source.ssl.key.password | a secret is not written",
                "start: earliest | ssl.truststore.password: 'x${env:A}' | 11: source.ssl.truststore.password | a secret is not written",
            })
    void a_wrong_option_is_told_with_its_place(
            String what, String by, String place, String message) {
        DefinitionException e = Objects.requireNonNull(
                catchThrowableOfType(DefinitionException.class, () -> read(what, by)));
        assertThat(e.problems())
                .anySatisfy(problem -> assertThat(problem.toString()).contains(place, message));
        assertThat(e.getMessage()).doesNotContain("hunter2");
    }

    @Test
    void either_topics_or_a_pattern_are_read() {
        assertThatThrownBy(() -> Feed.check(read("topics: a", "client.id: c")))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("topics or a pattern");
        assertThatCode(() -> Feed.check(read("topics: a", "pattern: \"a-.*\"")))
                .doesNotThrowAnyException();
    }

    @Test
    void a_header_and_fields_beside_csv_are_refused() {
        assertThatThrownBy(() -> Feed.check(read("kind: json", "kind: csv")))
                .hasMessageContaining("messages have no header");
        String csv = "kind: csv, header: false, columns: [id]";
        assertThatCode(() -> Feed.check(read("kind: json", csv))).doesNotThrowAnyException();
        assertThatThrownBy(() -> Feed.check(FeedDefinition.parse(
                        "f.yaml",
                        directory,
                        GOOD.replace("kind: json", csv).replace("start: earliest", "key: id"))))
                .hasMessageContaining("fields of JSON alone");
    }

    @Test
    void a_reference_is_resolved_when_the_feed_starts() throws IOException {
        Files.writeString(directory.resolve("login"), "secret\n");
        KafkaOptions options = KafkaOptions.of(Map.of(
                "bootstrap", "127.0.0.1:9092",
                "topics", "a",
                "group", "g",
                "sasl.jaas.config", "${file:login}",
                "ssl.truststore.location", "trust.jks",
                "client.id", "${env:PATH}"));
        assertThat(options.toString()).doesNotContain("secret");
        assertThat(ClientProperties.of(options, directory).ofConsumer(1))
                .containsEntry("sasl.jaas.config", "secret")
                .containsEntry(
                        "ssl.truststore.location",
                        directory.resolve("trust.jks").toString())
                .containsEntry("client.id", System.getenv("PATH"))
                .containsEntry("isolation.level", "read_committed")
                .containsEntry("group.protocol", "consumer");
        assertThatThrownBy(() -> Feed.check(
                        read("start: earliest", "ssl.key.password: \"${env:NOT_THERE}\"")))
                .hasMessageContaining("ssl.key.password", "no variable NOT_THERE");
        assertThatThrownBy(() ->
                        Feed.check(read("start: earliest", "ssl.key.password: \"${file:nobody}\"")))
                .hasMessageContaining("ssl.key.password", "nobody");
    }

    @Test
    void over_the_network_files_are_told_and_variables_have_a_name_of_ours() {
        KafkaKind kind = new KafkaKind();
        assertThat(kind.files(Map.of(
                        "topics", "a",
                        "ssl.key.password", "${file:../../etc/shadow}",
                        "ssl.keystore.location", "/etc/keys",
                        "sasl.jaas.config", "${env:TURBIDITE_LOGIN}")))
                .containsExactlyInAnyOrder("../../etc/shadow", "/etc/keys");
        assertThatThrownBy(() -> kind.files(Map.of("client.id", "${env:HOME}")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("TURBIDITE_");
    }

    private static RecordFrame frame(
            MessageFields fields, @Nullable String key, @Nullable String value) {
        return new MessageFrames(fields, false)
                .frame(new ConsumerRecord<>("t", 3, 41, utf8(key), utf8(value)));
    }

    private static byte @Nullable [] utf8(@Nullable String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private static MessageFields fields(@Nullable String key, KeyFormat format) {
        return new MessageFields(key, format, null, null, "p", null, null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "TEXT | a\"b | {\"n\":1} | {\"k\":\"a\\\"b\",\"p\":3,\"n\":1}",
                "TEXT | a | {} | {\"k\":\"a\",\"p\":3}",
                "TEXT | a | [1] | [1]",
                "JSON | 17 | {\"n\":1} | {\"k\":17,\"p\":3,\"n\":1}",
                "OBJECT | {\"a\":1} | {\"n\":1} | {\"a\":1,\"p\":3,\"n\":1}",
                "OBJECT | { } | {\"n\":1} | {\"p\":3,\"n\":1}",
                "OBJECT | x | {\"n\":1} | {\"key\":,\"p\":3,\"n\":1}",
            })
    void fields_stand_in_front_of_the_values_own(
            KeyFormat format, String key, String value, String text) {
        RecordFrame frame =
                frame(fields(format == KeyFormat.OBJECT ? null : "k", format), key, value);
        assertThat(frame.text(1_000)).isEqualTo(text);
        assertThat(frame.isDelete()).isFalse();
        assertThat(frame.offset()).isEqualTo(41);
    }

    @Test
    void one_message_leaves_nothing_to_the_next() {
        MessageFrames frames = new MessageFrames(fields("k", KeyFormat.TEXT), false);
        String control = "quite long\n\u0001, with a \\ and a \" " + "x".repeat(5_000);
        RecordFrame first =
                frames.frame(new ConsumerRecord<>("t", 3, 1, utf8(control), utf8("{\"n\":\n1}")));
        assertThat(first.text(50))
                .startsWith("{\"k\":\"quite long\\u000a\\u0001, with a \\\\ and a \\\" x");
        assertThat(first.length()).isGreaterThan(5_000);
        assertThat(first.spansLines()).isTrue();
        assertThat(frames.frame(new ConsumerRecord<>("t", 3, 2, null, null)).problem())
                .isNotNull();
        assertThat(frames.frame(new ConsumerRecord<>("t", 3, 3, utf8("d"), null))
                        .isDelete())
                .isTrue();
        RecordFrame next = frames.frame(new ConsumerRecord<>("t", 3, 4, utf8("a"), utf8("{}")));
        assertThat(next.text(1_000)).isEqualTo("{\"k\":\"a\",\"p\":3}");
        assertThat(next.spansLines()).isFalse();
        assertThat(next.problem()).isNull();
        assertThat(next.isDelete()).isFalse();
        assertThat(next.offset()).isEqualTo(4);
        assertThat(next.endLine()).isEqualTo(6);
    }

    @Test
    void a_message_without_a_value_asks_for_a_delete_by_its_key() {
        RecordFrame frame = frame(fields("k", KeyFormat.TEXT), "a", null);
        assertThat(frame.isDelete()).isTrue();
        assertThat(frame.text(1_000)).isEqualTo("{\"k\":\"a\",\"p\":3}");
        assertThat(frame(fields("k", KeyFormat.TEXT), null, null).problem())
                .contains("neither key nor value");
        assertThat(frame(fields(null, KeyFormat.TEXT), "a", null).problem())
                .contains("no key to delete by");
    }
}
