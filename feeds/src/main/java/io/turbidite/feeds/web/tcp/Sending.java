package io.turbidite.feeds.web.tcp;

import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.SpareBytes;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The lines of one connection on their way into its feed. <em>Confined to the channel's loop.</em>
 *
 * <p>Invariants: parcels are handed in, and acknowledged, in the order in which their lines came;
 * one that the feed did not take is handed in again before any that came after it.
 */
final class Sending {
    /** While one is written the next one gathers. */
    private static final int UNSETTLED_MAX = 2;

    /** So long the run of a feed may take to say why it ended. */
    private static final long CAUSE_MILLIS_MAX = 1_000;

    private final FeedManager manager;
    private final String feed;
    private final boolean hasHeader;
    private final @Nullable Producer producer;
    private final @Nullable Long begunAt;
    private final Runnable settled;
    private final long retryMillisMax;
    private final SpareBytes spare;
    private final ArrayDeque<Sent> unsettled = new ArrayDeque<>();

    /** Those to hand in again; nothing else is meanwhile. */
    private final ArrayDeque<Sent> refused = new ArrayDeque<>();

    private final List<Rejection> reasons = new ArrayList<>();
    private long nextNumber;
    private long acked;
    private long rejectedCount;
    private long droppedCount;
    private long triedMillis;
    private String lastRefusal = "";

    /** That the feed ended before all was durable; null while it has not. */
    private @Nullable String ended;

    /** Whose the records are. */
    record Producer(String owner, String name) {}

    /**
     * A parcel, its records, and its ticket when it was last handed in.
     *
     * @param text is spare once it is taken; null if the parcel was handed in before: who reads
     *     it by an earlier ticket may be at it still
     */
    private record Sent(
            Parcel parcel, int recordCount, Ticket ticket, LineBuffer.@Nullable Text text) {}

    /** What settling came to. */
    enum Progress {
        NONE,
        ACKED
    }

    /**
     * @param first the number of the first record; of use with a producer
     * @param begunAt is acknowledged at once: the client does not know where it stands
     * @param settled is run when a parcel is, by any thread
     */
    record Start(
            @Nullable Producer producer,
            long first,
            @Nullable Long begunAt,
            Runnable settled) {}

    /** @param spare takes the arrays of lines that are durable */
    Sending(
            FeedManager manager,
            String feed,
            boolean hasHeader,
            Start start,
            long retryMillisMax,
            SpareBytes spare) {
        this.manager = manager;
        this.spare = spare;
        this.feed = feed;
        this.hasHeader = hasHeader;
        this.producer = start.producer();
        this.nextNumber = start.first();
        this.begunAt = start.begunAt();
        this.acked = begunAt == null ? 0 : begunAt;
        this.settled = start.settled();
        this.retryMillisMax = retryMillisMax;
    }

    boolean hasHeader() {
        return hasHeader;
    }

    /** What is told at the beginning; null if nothing is. */
    @Nullable
    Long begunAt() {
        return begunAt;
    }

    boolean hasRoom() {
        return ended == null && refused.isEmpty() && unsettled.size() < UNSETTLED_MAX;
    }

    /** Whether all that was handed in is acknowledged. */
    boolean isDone() {
        return ended == null && refused.isEmpty() && unsettled.isEmpty();
    }

    boolean wantsRetry() {
        return ended != null || (!refused.isEmpty() && unsettled.isEmpty());
    }

    /** Hands lines in. */
    void offer(LineBuffer.Lines lines, byte @Nullable [] header) {
        if (lines.recordCount() == 0) {
            return;
        }
        LineBuffer.Text text = lines.text();
        Parcel parcel = Parcel.ofLines(text.bytes(), text.byteCount(), header, lines.firstLine());
        if (producer != null) {
            parcel = parcel.from(producer.owner(), producer.name(), nextNumber);
            nextNumber += lines.recordCount();
        }
        offer(parcel, lines.recordCount(), text);
    }

    private void offer(Parcel parcel, int recordCount, LineBuffer.@Nullable Text text) {
        Ticket ticket = manager.offer(feed, parcel, settled);
        Sent sent = new Sent(parcel, recordCount, ticket, text);
        if (ticket.isSettled() && isPassing(ticket.receipt())) {
            refused.add(sent);
        } else {
            unsettled.add(sent); // if it is settled already the next look says so
        }
        if (ticket.isSettled()) {
            settled.run();
        }
    }

    /** Whether nothing of a parcel was taken, and another try may do. */
    private boolean isPassing(Receipt receipt) {
        return switch (receipt) {
            case Receipt.Full(String why) -> {
                lastRefusal = why;
                triedMillis = 0; // the feed works, and has a lot to do
                yield true;
            }
            case Receipt.Away(String why) -> {
                lastRefusal = why;
                yield true;
            }
            default -> false;
        };
    }

    /**
     * Takes what has a receipt, from the oldest on.
     *
     * @throws Problem if one of them ends the connection
     */
    Progress settle() {
        Progress progress = Progress.NONE;
        while (true) {
            Sent oldest = unsettled.peek();
            if (oldest == null || !oldest.ticket().isSettled()) {
                return progress;
            }
            switch (oldest.ticket().receipt()) {
                case Receipt.Taken taken -> {
                    count(taken, oldest);
                    unsettled.remove();
                    giveBack(oldest);
                    triedMillis = 0;
                    progress = Progress.ACKED;
                }
                case Receipt.Cut cut
                when producer != null -> {
                    if (unsettled.stream().anyMatch(one -> !one.ticket().isSettled())) {
                        return progress; // the others are soon
                    }
                    lastRefusal = cut.why();
                    refused.addAll(unsettled); // what was taken of them is passed over
                    unsettled.clear();
                }
                case Receipt.Cut(long taken, String why) -> {
                    acked += taken;
                    ended = why;
                    triedMillis = 0;
                    unsettled.clear(); // those behind it are cut, too
                    return progress;
                }
                case Receipt.Gap(long expected) -> {
                    if (producer != null) {
                        // not expected - 1: what another connection has just sent is read by now,
                        // and may not be durable
                        acked = expected == 1
                                ? 0 // what this connection was told is of a life that is over
                                : Math.max(
                                        acked,
                                        manager.durableTo(feed, producer.owner(), producer.name()));
                    }
                    throw Problem.of(
                            409,
                            "records are missing: the next one of producer %s is number %d"
                                    .formatted(producer == null ? "" : producer.name(), expected));
                }
                case Receipt.TooManyProducers(int countMax) ->
                    throw Problem.of(
                            409,
                            "the feed has %d producers, as many as may be".formatted(countMax));
                case Receipt.Malformed(String why) -> throw Problem.of(400, why);
                case Receipt.Full(String why) -> throw Problem.of(429, why).retry(1);
                case Receipt.Away(String why) -> {
                    lastRefusal = why;
                    refused.addAll(unsettled);
                    unsettled.clear();
                }
            }
        }
    }

    private void giveBack(Sent sent) {
        LineBuffer.Text text = sent.text();
        if (text != null) {
            spare.give(text.bytes());
        }
    }

    private void count(Receipt.Taken taken, Sent sent) {
        long all = taken.accepted() + taken.rejected() + taken.dropped() + taken.repeated();
        if (all != sent.recordCount()) {
            throw new IllegalStateException(
                    "%d records were sent, %d taken".formatted(sent.recordCount(), all));
        }
        acked = producer == null ? acked + all : Math.max(acked, taken.last());
        rejectedCount += taken.rejected();
        droppedCount += taken.dropped();
        taken.reasons().stream()
                .limit(Math.max(0, Receipt.REASONS_MAX - reasons.size()))
                .forEach(reasons::add);
    }

    /**
     * Hands in again what was refused.
     *
     * @param sinceMillis the last try
     * @throws Problem if it will not be taken soon, or the feed has ended in its middle
     */
    void retry(long sinceMillis) {
        if (!wantsRetry()) {
            return;
        }
        triedMillis += sinceMillis;
        FeedStatus status = manager.status(feed);
        if (ended != null) {
            if (mayStillFail(status.state()) && triedMillis < CAUSE_MILLIS_MAX) {
                return;
            }
            throw Problem.of(503, because(ended, status)).retry(1);
        }
        if (triedMillis >= retryMillisMax || isAtRest(status.state())) {
            throw Problem.of(503, because(lastRefusal, status)).retry(1);
        }
        List<Sent> again = List.copyOf(refused);
        refused.clear();
        for (Sent one : again) {
            if (refused.isEmpty()) {
                offer(one.parcel(), one.recordCount(), null);
            } else {
                refused.add(one);
            }
        }
    }

    /** Its receipts come before its state: the run that gave them may not be over. */
    private static boolean mayStillFail(FeedState state) {
        return state == FeedState.RUNNING || state == FeedState.WAITING;
    }

    private static String because(String what, FeedStatus status) {
        String cause = status.cause() == null ? "" : Failures.oneLine(status.cause());
        return what.contains(cause) ? what : what + ": " + cause;
    }

    private static boolean isAtRest(FeedState state) {
        return state == FeedState.PAUSED || state == FeedState.FAILED || state == FeedState.ENDED;
    }

    /** Up to where all is durable, and what of it was left out or rejected. */
    Json.Line acknowledgement() {
        Json.Line line = Json.line().put("acked", acked);
        describeOthers(line);
        return line;
    }

    /** Adds up to where all is durable to a line that says why nothing more will be. */
    void describeEnd(Json.Line line) {
        line.put("acked", acked);
        describeOthers(line);
    }

    private void describeOthers(Json.Line line) {
        if (droppedCount > 0) {
            line.put("dropped", droppedCount);
        }
        if (rejectedCount == 0) {
            return;
        }
        line.put("rejected", rejectedCount)
                .put(
                        "reasons",
                        reasons.stream()
                                .map(one -> Json.line()
                                        .put("line", one.line())
                                        .put("reason", one.reason())
                                        .toMap())
                                .toList());
    }
}
