package io.turbidite.feeds.source.kafka;

import io.turbidite.core.StorageException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

/**
 * Knows which topic stands behind a name: one that is deleted and made anew has the same name, the
 * same numbers of partitions, and other messages under the same offsets. A consumer does not tell
 * them apart; the ID that brokers give to a topic does.
 *
 * <p>Messages are given on when the ID is known to have been the same behind their fetch: see
 * {@link #seenTo}. <em>Confined to the thread of the run.</em>
 */
final class TopicWatch implements AutoCloseable {
    /** A question takes a broker some 100 µs: not one for each message. */
    private static final long BETWEEN_NANOS = 5_000_000;

    /** So a topic that is made anew, and brokers that are away, are noticed without messages. */
    private static final long IDLE_NANOS = 1_000_000_000;

    /** Longer than a broker takes to start again. */
    private static final int ANSWER_MILLIS = 10_000;

    private final Admin admin;
    private final String bootstrap;
    private final Map<String, Uuid> ids = new HashMap<>();

    /** The topics asked for in the definition: each must be there. */
    private final Collection<String> required;

    private @Nullable Question asked;
    private long askedNanos;
    private long seenTo = -1;
    private boolean changed;

    private record Question(
            long fetch,
            Map<String, KafkaFuture<TopicDescription>> answers,
            KafkaFuture<Void> all) {}

    TopicWatch(Properties settings, String bootstrap, Collection<String> required, long nanos) {
        this.admin = Admin.create(settings);
        this.bootstrap = bootstrap;
        this.required = required;
        this.askedNanos = nanos - IDLE_NANOS;
    }

    /** Null while it is not known. */
    @Nullable
    Uuid id(String topic) {
        return ids.get(topic);
    }

    /** Up to which fetch the IDs hold. */
    long seenTo() {
        return seenTo;
    }

    /** Whether the ID of some topic is another one than before, or new; told once. */
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    /**
     * Asks, if it is time, and takes the answer, if it is there. Waits for nothing.
     *
     * @param topics to ask for beside those of the definition
     * @param fetch the number of the last fetch
     * @param isWanted whether somebody waits for the answer
     * @throws StorageException if no broker answers, or a topic is not there
     */
    void look(Collection<String> topics, long fetch, boolean isWanted, long nanos) {
        Question now = asked;
        if (now != null && now.all.isDone()) {
            asked = null;
            take(now);
        }
        long since = nanos - askedNanos;
        if (asked == null && since >= (isWanted ? BETWEEN_NANOS : IDLE_NANOS)) {
            askedNanos = nanos;
            TreeSet<String> names = new TreeSet<>(required);
            names.addAll(topics);
            asked = ask(names, fetch);
        }
    }

    /** Whether a question is answered, and the answer not taken. */
    boolean hasAnswer() {
        Question now = asked;
        return now != null && now.all.isDone();
    }

    private Question ask(Set<String> names, long fetch) {
        Map<String, KafkaFuture<TopicDescription>> answers = admin.describeTopics(
                        names, new DescribeTopicsOptions().timeoutMs(ANSWER_MILLIS))
                .topicNameValues();
        KafkaFuture<Void> all = names.isEmpty()
                ? admin.describeCluster().clusterId().thenApply(id -> null)
                : KafkaFuture.allOf(answers.values().toArray(KafkaFuture[]::new));
        return new Question(fetch, answers, all);
    }

    private void take(Question question) {
        try {
            if (question.answers.isEmpty()) {
                question.all.toCompletionStage().toCompletableFuture().join();
            }
            for (var answer : question.answers.entrySet()) {
                String topic = answer.getKey();
                Uuid id = id(answer.getValue());
                if (id == null && required.contains(topic)) {
                    throw Trouble.of(bootstrap, "topic '%s' is not there".formatted(topic), null);
                }
                Uuid before = id == null ? ids.remove(topic) : ids.put(topic, id);
                changed |= id == null ? before != null : !id.equals(before);
            }
        } catch (CompletionException e) {
            throw Trouble.of(bootstrap, e.getCause() == null ? e : e.getCause());
        } catch (CancellationException e) {
            throw Trouble.of(bootstrap, e);
        }
        seenTo = question.fetch;
    }

    private static @Nullable Uuid id(KafkaFuture<TopicDescription> answer) {
        try {
            return answer.toCompletionStage().toCompletableFuture().join().topicId();
        } catch (CompletionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ZERO);
    }
}
