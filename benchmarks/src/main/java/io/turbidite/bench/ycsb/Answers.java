package io.turbidite.bench.ycsb;

/** The same operations must have the same answers, whoever does them. */
final class Answers {
    private final Mix mix;
    private boolean isKnown;
    private long answer;

    Answers(Mix mix) {
        this.mix = mix;
    }

    /** @throws IllegalStateException if another engine answered otherwise */
    void check(Peer peer, Spent spent) {
        if (isKnown && spent.answer() != answer) {
            throw new IllegalStateException("workload %s: %s answers %d, the other engine %d"
                    .formatted(mix, peer.title(), spent.answer(), answer));
        }
        isKnown = true;
        answer = spent.answer();
    }
}
