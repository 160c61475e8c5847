package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The handling of a record that was taken without a line end, and whose line now goes on. The first
 * part of a record may be a good record, so both parts are looked at. <em>Confined to the run's
 * thread.</em>
 *
 * @param feed its name
 * @param takenTo the offset up to which the file was read
 */
record Continuation(
        String feed,
        String partition,
        long takenTo,
        RecordParser parser,
        Delivery delivery,
        Clock clock) {
    /** Enough of a text to know it again. */
    private static final int TEXT_CHARS_MAX = 4_096;

    /** Whether {@code frame} was read before, all of it or its first part. */
    boolean concerns(RecordFrame frame) {
        return frame.offset() < takenTo;
    }

    /**
     * Puts the present record into {@code batch}: as a record, as a dead letter, or not at all if
     * nothing was added to it.
     *
     * @return the event to tell, or null
     */
    @Nullable
    SourceContinued take(RecordFrame frame, Batch batch) {
        if (frame.endOffset() <= takenTo) {
            return null; // a line before it, which was delivered whole
        }
        RecordFrame before = frame.head((int) Math.min(frame.length(), takenTo - frame.offset()));
        if (parser.isWhole(before) && frame.problem() == null && parser.isWhole(frame)) {
            batch.move(); // white space was added
            return null;
        }
        List<byte[]> taken = converted(before);
        String outcome =
                taken.isEmpty() ? takeAnew(frame, batch) : takeInPlace(frame, batch, taken);
        return outcome.isEmpty()
                ? null
                : new SourceContinued(
                        clock.wallMicros(),
                        feed,
                        partition,
                        frame.line(),
                        frame.offset(),
                        before.text(TEXT_CHARS_MAX),
                        frame.text(TEXT_CHARS_MAX),
                        outcome);
    }

    /** Takes a record whose earlier part was no record, but a dead letter, or was left out. */
    private String takeAnew(RecordFrame frame, Batch batch) {
        try {
            check(frame);
            List<byte[]> now = new ArrayList<>();
            int leftOut = parser.parseAll(frame, record -> now.add(record.toByteArray()));
            for (int i = 0; i < now.size(); i++) {
                if (i == 0) {
                    batch.add(Slice.of(now.get(i)), frame);
                } else {
                    batch.addMore(Slice.of(now.get(i)), frame);
                }
            }
            if (leftOut > 0) {
                batch.drop(frame, leftOut, now.isEmpty());
            }
            return now.isEmpty() ? "" : "taken";
        } catch (InvalidRequestException e) {
            batch.reject(frame, String.valueOf(e.getMessage()));
            return "rejected";
        }
    }

    private String takeInPlace(RecordFrame frame, Batch batch, List<byte[]> taken) {
        String problem;
        try {
            check(frame);
            List<byte[]> now = new ArrayList<>();
            var _ = parser.parseAll(frame, record -> now.add(record.toByteArray()));
            if (areEqual(now, taken)) {
                batch.move();
                return "";
            }
            if (now.size() == 1 && taken.size() == 1) {
                Slice record = Slice.of(now.getFirst());
                if (delivery.replaces(Slice.of(taken.getFirst()), record)) {
                    batch.add(record, frame);
                    return "replaced";
                }
            }
            problem = "it can't take that one's place";
        } catch (InvalidRequestException e) {
            problem = String.valueOf(e.getMessage());
        }
        String before = frame.head((int) (takenTo - frame.offset())).text(TEXT_CHARS_MAX);
        batch.reject(
                frame,
                "the file went on in the middle of a record that was taken as '%s': %s"
                        .formatted(before, problem));
        return "rejected";
    }

    private static boolean areEqual(List<byte[]> one, List<byte[]> other) {
        boolean areEqual = one.size() == other.size();
        for (int i = 0; areEqual && i < one.size(); i++) {
            areEqual = Arrays.equals(one.get(i), other.get(i));
        }
        return areEqual;
    }

    /** The encoded records that the frame becomes; none if it is no record, or left out. */
    private List<byte[]> converted(RecordFrame frame) {
        List<byte[]> records = new ArrayList<>();
        try {
            var _ = parser.parseAll(frame, record -> records.add(record.toByteArray()));
            return records;
        } catch (InvalidRequestException e) {
            return List.of(); // then it was refused when it was read
        }
    }

    private static void check(RecordFrame frame) {
        if (frame.problem() != null) {
            throw new InvalidRequestException(Objects.requireNonNull(frame.problem()));
        }
    }
}
