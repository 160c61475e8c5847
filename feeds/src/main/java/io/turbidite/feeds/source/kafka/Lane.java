package io.turbidite.feeds.source.kafka;

import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.SourcePosition;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;

/**
 * A partition that the group has given to this feed, and what was fetched of it and is not read.
 *
 * <p>Its position moves with what is read, and behind what takes offsets and is no message: the
 * marks of transactions, and aborted ones. <em>Confined to the thread of the run.</em>
 */
final class Lane implements PartitionReader {
    private final TopicPartition partition;
    private final String name;
    private final TopicWatch topics;
    private final MessageFrames frames;
    private final ArrayDeque<Fetched> fetched = new ArrayDeque<>();
    private int next;
    private int waitingCount;

    /** Behind what was given out; -1 before the lane is opened. */
    private long position = -1;

    /** Behind the last message that was given out; -1 if none was. */
    private long given = -1;

    private long bytesRead;
    private @Nullable RecordFrame frame;

    /**
     * What one fetch brought.
     *
     * @param number of the fetch
     * @param end the offset behind it
     */
    private record Fetched(long number, List<ConsumerRecord<byte[], byte[]>> messages, long end) {}

    Lane(TopicPartition partition, String name, TopicWatch topics, MessageFrames frames) {
        this.partition = partition;
        this.name = name;
        this.topics = topics;
        this.frames = frames;
    }

    TopicPartition partition() {
        return partition;
    }

    /** Topic, its ID, and the number of the partition. */
    String name() {
        return name;
    }

    boolean isOpen() {
        return position >= 0;
    }

    /** Reading begins at an offset. */
    void begin(long offset) {
        position = offset;
    }

    /** Behind the last message that was given out; -1 if none was. */
    long given() {
        return given;
    }

    /** Messages that were fetched and not read. */
    int waitingCount() {
        return waitingCount;
    }

    /** Whether there is something that {@link #next} would move to. */
    boolean hasNews() {
        Fetched first = fetched.peek();
        return first != null && first.number <= topics.seenTo();
    }

    void add(long number, List<ConsumerRecord<byte[], byte[]>> messages, long end) {
        fetched.add(new Fetched(number, messages, end));
        waitingCount += messages.size();
    }

    @Override
    public Step next() {
        while (true) {
            Fetched first = fetched.peek();
            if (first == null || first.number > topics.seenTo()) {
                return Step.NOTHING;
            }
            if (next == first.messages.size()) {
                position = Math.max(position, first.end);
                fetched.remove();
                next = 0;
                continue;
            }
            ConsumerRecord<byte[], byte[]> message = first.messages.get(next++);
            waitingCount--;
            bytesRead += Math.max(0, message.serializedValueSize())
                    + Math.max(0, message.serializedKeySize());
            position = message.offset() + 1;
            given = position;
            frame = frames.frame(message);
            return Step.RECORD;
        }
    }

    @Override
    public RecordFrame frame() {
        return Objects.requireNonNull(frame);
    }

    @Override
    public SourcePosition position() {
        return SourcePosition.of(position);
    }

    /** Where reading began must be kept: with start latest, later it would be elsewhere. */
    @Override
    public boolean keepsPosition() {
        return true;
    }

    @Override
    public long bytesRead() {
        return bytesRead;
    }

    /** What was fetched and not read is fetched again, should it be opened again. */
    @Override
    public void close() {
        fetched.clear();
        next = 0;
        waitingCount = 0;
        position = -1;
    }
}
