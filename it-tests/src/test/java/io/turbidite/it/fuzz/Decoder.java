package io.turbidite.it.fuzz;

import java.util.List;
import java.util.function.Supplier;

/** What is fuzzed; the names are those of the directories of kept inputs. */
enum Decoder {
    MANIFEST(() -> StoreFiles.of("MANIFEST")),
    COMPONENT(() -> StoreFiles.of(".component")),
    BITMAP(() -> StoreFiles.of(".dead")),
    LOG(() -> StoreFiles.of("log/")),
    SHIPMENT(ShipmentStream::create),
    SOCKET(SocketFrames::create),
    DEFINITION(Texts::definition),
    FEED_JSON(Texts::feedJson),
    FEED_CSV(Texts::feedCsv),
    FEED_EXPRESSION(Texts::feedExpression),
    LOG_JSON(Texts::logJson),
    LOG_CSV(Texts::logCsv),
    LOG_EXPRESSION(Texts::logExpression),
    LOG_PAGES(() -> HashLogFiles.of(".pages")),
    LOG_REGISTRY(() -> HashLogFiles.of("HASHLOG")),
    LOG_TAIL(() -> HashLogFiles.of("TAIL"));

    /** One decoder with what it needs. */
    interface Run {
        /** Sound inputs to begin with, beside the kept ones. */
        List<byte[]> seeds();

        /** Throws what the decoder throws. */
        void decode(byte[] input);
    }

    @SuppressWarnings("ImmutableEnumChecker") // a supplier that keeps nothing
    private final Supplier<Run> made;

    Decoder(Supplier<Run> made) {
        this.made = made;
    }

    Run make() {
        return made.get();
    }
}
