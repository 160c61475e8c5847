package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/**
 * What to do about the indexes of a dataset. <em>Immutable.</em>
 *
 * @param reasons what was measured and what follows from it, sentence by sentence
 * @param nowPages pages that maintenance costs with the strategies of now
 * @param advisedPages the same with those advised
 */
public record Advice(
        String dataset,
        List<String> reasons,
        double nowPages,
        double advisedPages,
        List<IndexAdvice> indexes) {
    public Advice {
        reasons = List.copyOf(reasons);
        indexes = List.copyOf(indexes);
    }

    /**
     * What to do about one index.
     *
     * @param advised the strategy of now if nothing should be changed
     * @param costs of the strategies that it may have; reading old records, which indexes share, is
     *     not in it
     * @param refused those that it may not have, each with the reason
     * @param repair where its repair is placed, of an index under auto; else null
     */
    public record IndexAdvice(
            String index,
            Maintenance now,
            Maintenance advised,
            Map<Maintenance, Cost> costs,
            Map<Maintenance, String> refused,
            @Nullable RepairDecision repair,
            List<String> reasons) {
        public IndexAdvice {
            reasons = List.copyOf(reasons);
        }

        /** Whether another strategy than the present one is advised. */
        public boolean isChange() {
            return now != advised;
        }
    }
}
