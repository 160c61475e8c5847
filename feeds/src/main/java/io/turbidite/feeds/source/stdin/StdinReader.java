package io.turbidite.feeds.source.stdin;

import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import java.util.Arrays;

/**
 * Cuts what is piped in into records, as far as it has come. A last line without its end waits
 * until the input has ended, and is a record then. <em>Confined to one thread at a time.</em>
 */
final class StdinReader implements PartitionReader {
    private final Piped piped;
    private final SourceHost host;
    private final LineFramer framer;
    private final Runnable ended;

    /** How many records were given out, those of earlier runs too. */
    private long count;

    private boolean wantsHeader;

    /** Whether the framer knows that nothing follows. */
    private boolean isLast;

    /**
     * A reader of an input of which nothing was read.
     *
     * @param taken how many records earlier runs have taken
     * @param ended is told when all was given out
     */
    StdinReader(Piped piped, SourceHost host, long taken, Runnable ended) {
        this.piped = piped;
        this.host = host;
        this.count = taken;
        this.ended = ended;
        this.wantsHeader = host.parser().wantsHeader();
        this.framer = new LineFramer(piped::read, host.parser().quotes(), host.separator(), 0, 1);
    }

    @Override
    public Step next() {
        while (true) {
            if (framer.next()) {
                if (wantsHeader) {
                    wantsHeader = false;
                    learnHeader(framer.frame());
                    continue;
                }
                count++;
                return Step.RECORD;
            }
            if (isLast) {
                ended.run();
                return Step.END;
            }
            boolean hasEnded = piped.hasEnded(); // before the look for what came before the end
            if (piped.hasMore()) {
                framer.goOn();
            } else if (hasEnded) {
                piped.checkEnd();
                framer.end();
                isLast = true;
            } else {
                return Step.NOTHING;
            }
        }
    }

    private void learnHeader(RecordFrame frame) {
        int end = frame.start() + frame.length();
        host.parser()
                .header(RecordFrame.of(
                        Arrays.copyOfRange(frame.bytes(), frame.start(), end),
                        frame.offset(),
                        frame.line()));
    }

    @Override
    public RecordFrame frame() {
        return framer.frame();
    }

    @Override
    public SourcePosition position() {
        return SourcePosition.of(count);
    }

    @Override
    public void cutToFirstLine() {
        framer.cutToFirstLine();
    }

    @Override
    public long bytesRead() {
        return framer.nextOffset();
    }
}
