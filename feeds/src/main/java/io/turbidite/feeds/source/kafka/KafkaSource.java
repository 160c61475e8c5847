package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.kafka.KafkaOptions.OnGap;
import io.turbidite.feeds.source.kafka.KafkaOptions.Start;

import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * A member of a group of consumers that reads what the group gives to it.
 *
 * <ol>
 *   <li>A partition that comes is paused at once, so that nothing is fetched from where the group
 *       thinks that it is.
 *   <li>When the topic's ID is known the partition has its name, which the feed's rows have too.
 *       The run opens it, and it is sought where its row says, or where it is to start.
 *   <li>Before a partition goes all that was read of it is waited for until it is durable. So who
 *       gets it next finds the row where this feed has left it. One that was lost goes at once:
 *       what is on its way then meets a row that was moved on, and is refused.
 * </ol>
 *
 * <p>Memory: what the client fetches ahead ({@code fetch.max.bytes}, 50 MiB), and up to two fetches
 * of {@value #FETCH_MESSAGES} messages beside. {@link #durable} and {@link #failed} may be called
 * by any thread; all else is <em>confined to the thread of the run</em>.
 */
final class KafkaSource implements FeedSource {
    /** A batch of a feed has 512 records, and there are some partitions. */
    private static final int FETCH_MESSAGES = 4_000;

    /** For displays of lag. */
    private static final long COMMIT_NANOS = 1_000_000_000;

    private static final Duration COMMIT_TIME = Duration.ofSeconds(2);
    private static final Duration CLOSE_TIME = Duration.ofSeconds(5);
    private static final Duration ANSWER_TIME = Duration.ofSeconds(10);

    /**
     * A poll that brings nothing takes two threads some 100 µs. A topic at rest is polled this
     * often, or when its feed asks for news: a managed one does that 50 ms apart. A message that
     * comes then waits for the next poll.
     */
    private static final long REST_NANOS_MAX = 20_000_000;

    /** What is not durable by then stays behind: the next owner reads it again. */
    private static final long DRAIN_NANOS = 60_000_000_000L;

    private final KafkaOptions options;
    private final ClientProperties settings;
    private @Nullable MessageFrames frames;

    private @Nullable SourceHost host;
    private @Nullable Supplier<Map<String, PartitionState>> taken;
    private @Nullable Consumer<byte[], byte[]> consumer;
    private @Nullable TopicWatch topics;

    /** Given by the group, and without a name until the topics were seen behind that fetch. */
    private final Map<TopicPartition, Long> unnamed = new LinkedHashMap<>();

    private final Map<TopicPartition, Lane> lanes = new LinkedHashMap<>();
    private final List<String> gone = new ArrayList<>();
    private long fetch;
    private long polledNanos;

    /** When something came last. */
    private long newsNanos;

    private long committedNanos;
    private final Map<String, Long> committed = new HashMap<>();

    /** Up to where each partition is durable. */
    private final Map<String, Long> durable = new ConcurrentHashMap<>();

    private volatile boolean failed;

    private KafkaSource(KafkaOptions options, ClientProperties settings) {
        this.options = options;
        this.settings = settings;
    }

    /**
     * A source that connects when a run begins.
     *
     * @throws InvalidRequestException if the settings refer to something that is not there
     */
    static KafkaSource of(KafkaOptions options, Path directory) {
        return new KafkaSource(options, ClientProperties.of(options, directory));
    }

    @Override
    public String group() {
        return options.group();
    }

    @Override
    public boolean canGoBack() {
        return true;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public void check(RecordParser parser, char separator) {
        if (parser.wantsHeader()) {
            throw new InvalidRequestException(
                    "messages have no header: parser.header is to be false, and parser.columns to name them");
        }
        if (parser.quotes() != RecordFramer.Quotes.NONE && !options.fields().isEmpty()) {
            throw new InvalidRequestException(
                    "key, timestamp, headers, partition, offset and topic become fields of JSON alone");
        }
    }

    @Override
    public void begin(Supplier<Map<String, PartitionState>> takenNow, SourceHost newHost) {
        host = newHost;
        frames = new MessageFrames(options.fields(), newHost.parser().takesMessages());
        taken = takenNow;
        newsNanos = newHost.clock().monotonicNanos(); // it is a member soon
        try {
            TopicWatch watch = new TopicWatch(
                    settings.ofAdmin(),
                    options.bootstrap(),
                    options.topics(),
                    newHost.clock().monotonicNanos());
            topics = watch;
            watch.look(List.of(), 0, true, newHost.clock().monotonicNanos());
            newHost.tasks().await(() -> watch.hasAnswer() || newHost.stopped().getAsBoolean());
            if (!watch.hasAnswer()) {
                return; // stopped
            }
            watch.look(List.of(), 0, false, newHost.clock().monotonicNanos());
            Consumer<byte[], byte[]> member = new KafkaConsumer<>(
                    settings.ofConsumer(FETCH_MESSAGES),
                    new ByteArrayDeserializer(),
                    new ByteArrayDeserializer());
            consumer = member;
            String pattern = options.pattern();
            if (pattern == null) {
                member.subscribe(options.topics(), new Rebalances());
            } else {
                member.subscribe(new SubscriptionPattern(pattern), new Rebalances());
            }
        } catch (KafkaException e) {
            throw Trouble.of(options.bootstrap(), e);
        }
    }

    private SourceHost host() {
        return Objects.requireNonNull(host);
    }

    private TopicWatch topics() {
        return Objects.requireNonNull(topics);
    }

    /** What the group tells, from within a poll. */
    private final class Rebalances implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            hold(partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            awaitDurable(partitions);
            commit(partitions);
            letGo(partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            letGo(partitions);
        }
    }

    /** Nothing is fetched of them: where to begin is not known yet. */
    private void hold(Collection<TopicPartition> partitions) {
        Consumer<byte[], byte[]> member = Objects.requireNonNull(consumer);
        member.pause(partitions);
        fetch++;
        for (TopicPartition partition : partitions) {
            member.seek(partition, 0);
            unnamed.put(partition, fetch);
        }
    }

    private void letGo(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            unnamed.remove(partition);
            Lane lane = lanes.remove(partition);
            if (lane != null) {
                gone.add(lane.name());
                durable.remove(lane.name());
                committed.remove(lane.name());
            }
        }
    }

    /** They stay the group's gift, and are opened anew. */
    private void renew(Collection<TopicPartition> partitions) {
        letGo(partitions);
        hold(partitions);
    }

    private void awaitDurable(Collection<TopicPartition> partitions) {
        long deadline = host().clock().monotonicNanos() + DRAIN_NANOS;
        host().tasks()
                .await(() -> failed
                        || host().stopped().getAsBoolean() // what is on its way may not arrive
                        || isDurable(partitions)
                        || host().clock().monotonicNanos() - deadline >= 0);
    }

    private boolean isDurable(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            Lane lane = lanes.get(partition);
            if (lane != null && lane.given() > durable.getOrDefault(lane.name(), -1L)) {
                return false;
            }
        }
        return true;
    }

    // ---- what the run does

    @Override
    public List<String> partitions() {
        if (consumer == null) {
            return List.of(); // stopped before it began
        }
        step();
        return lanes.values().stream().map(Lane::name).toList();
    }

    @Override
    public List<String> gone() {
        if (gone.isEmpty()) {
            return List.of();
        }
        List<String> told = List.copyOf(gone);
        gone.clear();
        return told;
    }

    @Override
    public boolean hasNews() {
        if (consumer == null) {
            return true;
        }
        if (!isResting()) {
            step();
        }
        if (!gone.isEmpty()) {
            return true;
        }
        for (Lane lane : lanes.values()) {
            if (!lane.isOpen() || lane.hasNews()) {
                return true;
            }
        }
        return false;
    }

    /** Whether nothing came for a while, and it is not yet time to look again. */
    private boolean isResting() {
        long now = host().clock().monotonicNanos();
        return fetch <= topics().seenTo()
                && unnamed.isEmpty()
                && now - polledNanos < Math.min(REST_NANOS_MAX, (now - newsNanos) / 10);
    }

    /** Fetches, names what can be named, and tells the group how far its partitions are. */
    private void step() {
        int waiting = 0;
        long before = fetch;
        long now = host().clock().monotonicNanos();
        Set<String> read = new TreeSet<>();
        for (Lane lane : lanes.values()) {
            waiting += lane.waitingCount();
        }
        try {
            if (waiting <= FETCH_MESSAGES) {
                poll();
                polledNanos = now;
            }
            if (fetch > before) {
                newsNanos = now;
            }
            lanes.keySet().forEach(partition -> read.add(partition.topic()));
            unnamed.keySet().forEach(partition -> read.add(partition.topic()));
            topics().look(read, fetch, fetch > topics().seenTo(), now);
            if (topics().takeChanged()) {
                renewChanged();
            }
            nameAll();
            if (now - committedNanos >= COMMIT_NANOS) {
                committedNanos = now;
                Map<TopicPartition, OffsetAndMetadata> offsets = uncommitted(lanes.keySet());
                if (!offsets.isEmpty()) {
                    Objects.requireNonNull(consumer).commitAsync(offsets, null);
                }
            }
        } catch (KafkaException e) {
            throw Trouble.of(options.bootstrap(), e);
        }
    }

    private void poll() {
        ConsumerRecords<byte[], byte[]> records;
        try {
            records = Objects.requireNonNull(consumer).poll(Duration.ZERO);
        } catch (OffsetOutOfRangeException e) {
            renew(List.copyOf(e.offsetOutOfRangePartitions().keySet()));
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> ends = records.nextOffsets();
        if (ends.isEmpty()) {
            return;
        }
        fetch++;
        ends.forEach((partition, end) -> {
            Lane lane = lanes.get(partition);
            if (lane != null && lane.isOpen()) {
                lane.add(fetch, records.records(partition), end.offset());
            }
        });
    }

    /** Behind a name may stand another topic now. */
    private void renewChanged() {
        List<TopicPartition> changed = new ArrayList<>();
        for (Lane lane : lanes.values()) {
            if (!lane.name().equals(name(lane.partition()))) {
                changed.add(lane.partition());
            }
        }
        if (!changed.isEmpty()) {
            renew(changed);
        }
    }

    private void nameAll() {
        unnamed.entrySet().removeIf(held -> {
            TopicPartition partition = held.getKey();
            String name = held.getValue() <= topics().seenTo() ? name(partition) : null;
            if (name != null) {
                lanes.put(
                        partition,
                        new Lane(partition, name, topics(), Objects.requireNonNull(frames)));
            }
            return name != null;
        });
    }

    private @Nullable String name(TopicPartition partition) {
        Uuid id = topics().id(partition.topic());
        return id == null
                ? null
                : "%s/%s/%d".formatted(partition.topic(), id, partition.partition());
    }

    @Override
    public PartitionReader open(
            String partition, @Nullable PartitionState before, SourceHost newHost) {
        for (Lane lane : lanes.values()) {
            if (lane.name().equals(partition)) {
                try {
                    long from = before == null
                            ? start(lane)
                            : behindGap(lane, before.position().number());
                    Consumer<byte[], byte[]> member = Objects.requireNonNull(consumer);
                    member.seek(lane.partition(), from);
                    member.resume(List.of(lane.partition()));
                    lane.begin(from);
                    return lane;
                } catch (KafkaException e) {
                    throw Trouble.of(options.bootstrap(), e);
                }
            }
        }
        throw new IllegalStateException(partition + " is not the feed's");
    }

    private long start(Lane lane) {
        // a topic made anew goes on: nothing of it was there when the group began
        if (isMadeAnew(lane)) {
            return beginning(lane);
        }
        return switch (options.start()) {
            case Start.Earliest() -> beginning(lane);
            case Start.Latest() -> end(lane);
            case Start.Time(long epochMillis) -> {
                OffsetAndTimestamp first = Objects.requireNonNull(consumer)
                        .offsetsForTimes(Map.of(lane.partition(), epochMillis), ANSWER_TIME)
                        .get(lane.partition());
                yield first == null ? end(lane) : first.offset();
            }
        };
    }

    private boolean isMadeAnew(Lane lane) {
        String topic = lane.partition().topic() + "/";
        String same = topic + topics().id(lane.partition().topic()) + "/";
        return Objects.requireNonNull(taken).get().keySet().stream()
                .anyMatch(name -> name.startsWith(topic) && !name.startsWith(same));
    }

    private long beginning(Lane lane) {
        return offset(
                lane,
                Objects.requireNonNull(consumer)
                        .beginningOffsets(List.of(lane.partition()), ANSWER_TIME));
    }

    private long end(Lane lane) {
        return offset(
                lane,
                Objects.requireNonNull(consumer)
                        .endOffsets(List.of(lane.partition()), ANSWER_TIME));
    }

    private static long offset(Lane lane, Map<TopicPartition, Long> offsets) {
        return Objects.requireNonNull(offsets.get(lane.partition()));
    }

    /** Where reading goes on: at the offset, unless it is there no longer. */
    private long behindGap(Lane lane, long offset) {
        long first = beginning(lane);
        long last = end(lane);
        if (offset >= first && offset <= last) {
            return offset;
        }
        if (options.onGap() == OnGap.FAIL) {
            throw new InvalidRequestException(
                    "the feed has taken %s up to offset %d, but it has offsets %d to %d now: onGap says whether to go on with the earliest or the latest"
                            .formatted(lane.name(), offset, first, last));
        }
        long from = options.onGap() == OnGap.EARLIEST ? first : last;
        host().gaps().missed(lane.name(), offset, from);
        return from;
    }

    // ---- what the delivery does

    @Override
    public void durable(String partition, SourcePosition position) {
        durable.merge(partition, position.number(), Math::max);
    }

    @Override
    public void failed() {
        failed = true;
    }

    private Map<TopicPartition, OffsetAndMetadata> uncommitted(
            Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition partition : partitions) {
            Lane lane = lanes.get(partition);
            Long offset = lane == null ? null : durable.get(lane.name());
            if (lane != null && offset != null && !offset.equals(committed.get(lane.name()))) {
                committed.put(lane.name(), offset);
                offsets.put(partition, new OffsetAndMetadata(offset));
            }
        }
        return offsets;
    }

    /** Tells the group how far partitions are, so that displays of lag say so. */
    private void commit(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = uncommitted(partitions);
        if (offsets.isEmpty()) {
            return;
        }
        try {
            Objects.requireNonNull(consumer).commitSync(offsets, COMMIT_TIME);
        } catch (KafkaException e) {
            // brokers are away: the group shows more lag than there is until the next commit
            committed.clear();
        }
    }

    @Override
    public void close() {
        failed = true; // the run has delivered what it could
        Consumer<byte[], byte[]> member = consumer;
        try {
            if (member != null) {
                commit(List.copyOf(lanes.keySet()));
                member.close(CloseOptions.timeout(CLOSE_TIME));
            }
        } catch (KafkaException e) {
            throw Trouble.of(options.bootstrap(), e);
        } finally {
            consumer = null;
            TopicWatch watch = topics;
            topics = null;
            if (watch != null) {
                watch.close();
            }
        }
    }
}
