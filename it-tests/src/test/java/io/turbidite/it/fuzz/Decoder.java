package io.turbidite.it.fuzz;

import java.util.List;
import java.util.function.Supplier;

/** What is fuzzed; the names are those of the directories of kept inputs. */
enum Decoder {
    MANIFEST(5_000, () -> StoreFiles.of("MANIFEST")),
    COMPONENT(400, () -> StoreFiles.of(".component")),
    BITMAP(400, () -> StoreFiles.of(".dead")),
    LOG(1_500, () -> StoreFiles.of("log/")),
    SHIPMENT(3_000, ShipmentStream::create),
    SOCKET(20_000, SocketFrames::create),
    DEFINITION(20_000, Texts::definition),
    FEED_JSON(20_000, Texts::feedJson),
    FEED_CSV(20_000, Texts::feedCsv),
    FEED_ARRAY(4_000, FeedFiles::array),
    FEED_AVRO(2_000, FeedFiles::objectFile),
    FEED_MESSAGE(20_000, FeedFiles::message),
    FEED_EXPRESSION(20_000, Texts::feedExpression),
    LOG_JSON(20_000, Texts::logJson),
    LOG_CSV(20_000, Texts::logCsv),
    LOG_EXPRESSION(20_000, Texts::logExpression),
    LOG_PAGES(10_000, () -> HashLogFiles.of(".pages")),
    LOG_REGISTRY(20_000, () -> HashLogFiles.of("HASHLOG")),
    LOG_TAIL(10_000, () -> HashLogFiles.of("TAIL"));

    /** One decoder with what it needs. */
    interface Run {
        /** Sound inputs to begin with, beside the kept ones. */
        List<byte[]> seeds();

        /** Throws what the decoder throws. */
        void decode(byte[] input);
    }

    private final int runs;

    @SuppressWarnings("ImmutableEnumChecker") // a supplier that keeps nothing
    private final Supplier<Run> made;

    /**
     * @param runs inputs in the default tier: what a busy machine does in some seconds, so that
     *     each machine does the same
     */
    Decoder(int runs, Supplier<Run> made) {
        this.runs = runs;
        this.made = made;
    }

    int runs() {
        return runs;
    }

    Run make() {
        return made.get();
    }
}
