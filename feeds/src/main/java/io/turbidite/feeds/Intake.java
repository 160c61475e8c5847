package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.BatchFlow;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.PartitionReader;

import org.jspecify.annotations.Nullable;

/**
 * Puts what a frame becomes into a batch: its records, a dead letter, a delete, or nothing where
 * the definition or the policy leaves it out. <em>Confined to the thread of its worker.</em>
 */
final class Intake {
    private final RecordParser parser;
    private final @Nullable RecordParser deletes;
    private final RecordPolicy policy;
    private final BatchFlow pipeline;

    /** Records of the frame in hand that the policy left out. */
    private int throttled;

    /**
     * An intake.
     *
     * @param deletes reads the keys of records to be deleted; null if there are none such
     */
    Intake(
            RecordParser parser,
            @Nullable RecordParser deletes,
            RecordPolicy policy,
            BatchFlow pipeline) {
        this.parser = parser;
        this.deletes = deletes;
        this.policy = policy;
        this.pipeline = pipeline;
    }

    /**
     * Takes a frame.
     *
     * @param reader is at it, if the format has quotes
     */
    void take(RecordFrame frame, PartitionReader reader, Batch batch) {
        @Nullable String problem = frame.problem();
        if (problem != null) {
            batch.reject(frame, problem);
            return;
        }
        if (!frame.isDelete() && !policy.takesNext(pipeline.isBehind())) {
            batch.drop(frame, 1, true);
            return;
        }
        try {
            if (frame.isDelete()) {
                delete(frame, batch);
            } else {
                convert(frame, batch);
            }
        } catch (MalformedFrameException e) {
            if (frame.spansLines() && parser.quotes() != RecordFramer.Quotes.NONE) {
                reader.cutToFirstLine();
                batch.reject(reader.frame(), String.valueOf(e.getMessage()));
            } else {
                batch.reject(frame, String.valueOf(e.getMessage()));
            }
        } catch (InvalidRequestException e) {
            batch.reject(frame, String.valueOf(e.getMessage()));
        }
    }

    /** No policy leaves a delete out. */
    private void delete(RecordFrame frame, Batch batch) {
        if (deletes == null) {
            throw new InvalidRequestException("this feed deletes no records");
        }
        batch.add(deletes.parse(frame), frame);
    }

    /** Puts what the frame becomes into the batch, all of it or nothing. */
    private void convert(RecordFrame frame, Batch batch) {
        int before = batch.recordCount();
        throttled = 0;
        int leftOut = parser.parseAll(frame, record -> {
            if (!policy.takes(record)) {
                throttled++;
            } else if (batch.recordCount() == before) {
                batch.add(record, frame);
            } else {
                batch.addMore(record, frame);
            }
        });
        leftOut += throttled;
        if (leftOut > 0) {
            batch.drop(frame, leftOut, batch.recordCount() == before);
        }
    }
}
