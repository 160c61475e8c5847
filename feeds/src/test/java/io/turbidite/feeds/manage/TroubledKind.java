package io.turbidite.feeds.manage;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourceKind;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sources to which records come when a test says so, and which fail when it says so; some records
 * have no name: {@code source: {kind: troubled, script: NAME}}.
 */
public final class TroubledKind implements SourceKind {
    static final Map<String, Script> SCRIPTS = new ConcurrentHashMap<>();

    /**
     * What a source of that name does; its two partitions are alike. <em>Confined to one
     * thread.</em>
     */
    static final class Script {
        static final int PARTITIONS = 2;

        /** The first ID. */
        final long first;

        /** How many records of each partition there are by now. */
        int come;

        /** In so many records it fails of what may pass, or of what may not; 0: never. */
        int troubleIn;

        int failureIn;

        /** Is run where a source of it is opened. */
        Runnable onOpen = () -> {};

        /** Is run where a run asks how much there is, before it begins. */
        Runnable onCount = () -> {};

        /** Whether nothing comes behind what has come. */
        boolean hasEnded;

        Script(long first) {
            this.first = first;
        }
    }

    @Override
    public String name() {
        return "troubled";
    }

    @Override
    public Set<String> required() {
        return Set.of("script");
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        Script script = SCRIPTS.get(options.get("script"));
        if (script == null) {
            throw new InvalidRequestException("no script " + options.get("script"));
        }
        script.onOpen.run();
        return new Source(script);
    }

    private static final class Source implements FeedSource {
        private final Script script;

        Source(Script script) {
            this.script = script;
        }

        @Override
        public long byteCount() {
            script.onCount.run();
            return 0;
        }

        @Override
        public List<String> partitions() {
            return List.of("0", "1");
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
        public boolean hasEnded() {
            return script.hasEnded;
        }

        @Override
        public PartitionReader open(
                String partition, @Nullable PartitionState taken, SourceHost host) {
            return new Reader(
                    script,
                    Integer.parseInt(partition),
                    taken == null ? 0 : (int) taken.position().number());
        }
    }

    private static final class Reader implements PartitionReader {
        private final Script script;
        private final int partition;
        private int at;
        private @Nullable RecordFrame frame;

        Reader(Script script, int partition, int at) {
            this.script = script;
            this.partition = partition;
            this.at = at;
        }

        @Override
        public Step next() {
            if (at >= script.come) {
                return Step.NOTHING;
            }
            if (script.troubleIn > 0 && --script.troubleIn == 0) {
                throw new StorageIoException(
                        StorageIoException.Kind.IO, "read", "the source", "it is away", null);
            }
            if (script.failureIn > 0 && --script.failureIn == 0) {
                throw new CorruptionException("the source", at, "a record", "one", "none");
            }
            long id = script.first + (long) at * Script.PARTITIONS + partition;
            String text = id % 31 == 7
                    ? "{\"id\":%d}".formatted(id)
                    : "{\"id\":%d,\"name\":\"n%d\"}".formatted(id, id);
            frame = RecordFrame.of(text.getBytes(StandardCharsets.UTF_8), at, at + 1L);
            at++;
            return Step.RECORD;
        }

        @Override
        public RecordFrame frame() {
            return Objects.requireNonNull(frame);
        }

        @Override
        public SourcePosition position() {
            return SourcePosition.of(at);
        }
    }
}
