package io.turbidite.bench.strategy;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;

import java.util.List;

/**
 * A strategy as the experiments name it. <em>Immutable.</em>
 *
 * @param name of its column
 * @param repairs whether merges repair the secondaries; only of validation
 */
record Recipe(String name, Maintenance maintenance, boolean repairs) {
    static final Recipe EAGER = new Recipe("eager", Maintenance.EAGER, false);
    static final Recipe VALIDATION = new Recipe("validation", Maintenance.VALIDATION, false);
    static final Recipe REPAIR = new Recipe("validation, repair", Maintenance.VALIDATION, true);
    static final Recipe BITMAP = new Recipe("mutable-bitmap", Maintenance.MUTABLE_BITMAP, false);
    static final Recipe DELETED_KEY = new Recipe("deleted-key", Maintenance.DELETED_KEY, false);
    static final Recipe DEFERRED = new Recipe("deferred", Maintenance.DEFERRED, false);

    /** All, the yardstick first. */
    static List<Recipe> all() {
        return List.of(EAGER, VALIDATION, REPAIR, BITMAP, DELETED_KEY, DEFERRED);
    }

    static Recipe named(String name) {
        return all().stream()
                .filter(recipe -> recipe.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    DatasetSpec applyTo(DatasetSpec spec) {
        return spec.maintenance(maintenance).repair(repairs ? MergeRepair.MERGE : MergeRepair.OFF);
    }
}
