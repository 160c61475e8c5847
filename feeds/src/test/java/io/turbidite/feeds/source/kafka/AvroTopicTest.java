package io.turbidite.feeds.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.avro.AvroText;
import io.turbidite.feeds.manage.FeedLetters;

import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Messages of Avro of a real broker, with schemas of the definition. */
@LeaksOnPurpose("a broker opens files and starts threads when a topic first needs them")
class AvroTopicTest {
    private static final String SECOND = """
            {"type":"record","name":"Second","fields":[
              {"name":"n","type":"long"},
              {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}
            """;

    private static Broker broker;
    private static KafkaProducer<String, byte[]> producer;

    @TempDir
    Path directory;

    private TopicFeeds feeds;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.open();
        producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        broker.address(),
                        ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                        "20000",
                        ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                        "10000"),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    @AfterAll
    static void stopBroker() {
        producer.close(Duration.ofSeconds(1));
        broker.close();
    }

    @BeforeEach
    void open() {
        feeds = TopicFeeds.open(broker, directory);
    }

    @AfterEach
    void close() {
        feeds.close();
    }

    private static void send(String topic, String key, byte @Nullable [] value) throws Exception {
        producer.send(new ProducerRecord<>(topic, 0, key, value)).get(20, TimeUnit.SECONDS);
    }

    private static byte[] second(long n) {
        Schema schema = AvroText.schema(SECOND);
        GenericData.Record record = new GenericData.Record(schema);
        record.put("n", n);
        record.put("at", 1_764_000_000_123L);
        return AvroText.message(9, AvroText.datum(schema, record));
    }

    private String definition(String topic, String schemas) {
        return feeds.definition("f", topic, ", offset: o")
                .replace("kind: json", "kind: avro, schemas: {%s}".formatted(schemas));
    }

    @Test
    void messages_are_read_by_their_schema_and_an_unknown_one_once_it_is_known() throws Exception {
        String first = SECOND.replace("Second", "First")
                .replace(
                        ",\n  {\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}",
                        "");
        Files.writeString(directory.resolve("first.avsc"), first);
        Files.writeString(directory.resolve("second.avsc"), SECOND);
        broker.create("avro", 1);
        send("avro", "a", AvroText.message(7, AvroText.numbers(1)));
        send("avro", "b", second(2)); // of a schema that is not there yet
        send("avro", "c", "{\"n\":3}".getBytes(StandardCharsets.UTF_8));
        send("avro", "d", AvroText.message(7, AvroText.numbers(4, 4)));
        send("avro", "e", AvroText.message(7, new byte[0]));
        send("avro", "f", AvroText.message(7, AvroText.numbers(6)));
        send("avro", "gone", AvroText.message(7, AvroText.numbers(7)));
        send("avro", "gone", null);
        send("avro", "last", AvroText.message(7, AvroText.numbers(8)));
        feeds.start(definition("avro", "7: first.avsc"));
        feeds.awaitRecord("last", 8);
        feeds.awaitRecord("a", 1);
        feeds.awaitRecord("f", 6);
        assertThat(feeds.get("gone")).isNull();
        assertThat(feeds.store().dataset("D").get("f")).containsEntry("o", 5L);
        FeedLetters letters = feeds.manager().letters("f", 0, 10);
        assertThat(letters.letters())
                .extracting(FeedLetters.Letter::offset)
                .containsExactly(1L, 2L, 3L, 4L);
        assertThat(letters.letters())
                .extracting(FeedLetters.Letter::reason)
                .satisfiesExactly(
                        unknown ->
                                assertThat(unknown).contains("schema ID 9", "parser.schemas: [7]"),
                        magic -> assertThat(magic).contains("begins with byte 0x7b"),
                        left -> assertThat(left).contains("1 bytes are left over"),
                        missing -> assertThat(missing).contains("it is no datum of its schema"));

        feeds.manager()
                .startOrChange(definition("avro", "7: first.avsc, 9: second.avsc"), directory);
        for (int retry = 0; retry < 2; retry++) {
            FeedReport report = feeds.manager().retryLetters("f");
            assertThat(report.records()).isEqualTo(retry == 0 ? 1 : 0);
            assertThat(report.rejected()).isEqualTo(3);
        }
        // with all that the message had beside its value
        assertThat(feeds.store().dataset("D").get("b"))
                .containsEntry("o", 1L)
                .containsEntry("at", "2025-11-24T16:00:00.123Z");
        send("avro", "later", second(10));
        feeds.awaitRecord("later", 10);
        assertThat(List.of("a", "b", "f", "last", "later"))
                .allSatisfy(key -> assertThat(feeds.get(key)).isNotNull());
    }
}
