package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.report.Report;
import io.turbidite.bench.strategy.TweetStore.Shape;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How strategies take turns: each once a round, forth and back, in a store of its own that begins
 * empty. The first rounds are smaller, warm up and are not counted.
 */
final class StrategyTurns {
    private static final int WARM_UP_DIVISOR = 4;

    private final int tweets;
    private final int warmUpRounds;
    private final int rounds;
    private final Path directory;

    /**
     * @param tweets a store
     * @param warmUpRounds before those that count, of a quarter of the tweets
     * @param rounds counted rounds
     * @param directory for the stores; emptied
     */
    StrategyTurns(int tweets, int warmUpRounds, int rounds, Path directory) {
        this.tweets = tweets;
        this.warmUpRounds = warmUpRounds;
        this.rounds = rounds;
        this.directory = directory;
    }

    /** What one strategy does in a round. */
    @FunctionalInterface
    interface Turn {
        void run(Column column);
    }

    /** Takes all rounds; the figures go into the report's columns of these names. */
    void take(Report report, Regime regime, List<String> columns, Turn turn) {
        for (int round = -warmUpRounds; round < rounds; round++) {
            boolean counted = round >= 0;
            int size = counted ? tweets : tweets / WARM_UP_DIVISOR;
            Map<String, Answer> answers = new HashMap<>();
            for (int i = 0; i < columns.size(); i++) {
                int at = Math.floorMod(round, 2) == 0 ? i : columns.size() - 1 - i;
                turn.run(new Column(report, regime, columns.get(at), size, counted, answers));
            }
        }
    }

    TweetStore open(Recipe recipe, Shape shape, Regime regime) {
        return new TweetStore(scratch(), recipe, shape, regime);
    }

    RocksEngine openPeer(Regime regime) {
        return RocksEngine.blind(new PeerOptions(
                scratch(),
                regime.writeMemoryBytes(),
                regime.cacheBytes(),
                1,
                regime.directIo(),
                Durability.BUFFERED));
    }

    private Path scratch() {
        return Scratch.empty(directory.resolve("strategies"));
    }
}
