package io.turbidite.it.samples;

import io.turbidite.lsm.Dataset;
import io.turbidite.ops.Join;
import io.turbidite.ops.Order;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.SetOperation;
import io.turbidite.ops.aggregate.Aggregate;

/** The example of queries over the rows of others. */
public final class RowsOfRows {
    private RowsOfRows() {}

    /** Prints the cities whose flights are late; returns how many there are. */
    public static long lateCities(Dataset flights, Dataset airports) {
        // begin relations
        Relation late = Query.on(flights)
                .groupBy("dest")
                .aggregate(Aggregate.count(), Aggregate.avg("delay").as("late"));
        Relation cities = Query.on(airports).select("code", "city");
        try (QueryResult rows = Query.on(Join.inner(late, cities).on("dest", "code"))
                .where("late > 30 and count > 1")
                .select("city", "late")
                .orderBy("late", Order.DESC)
                .run()) {
            return rows.forEachJson(System.out);
        }
        // end relations
    }

    /** The airports that no flight goes to. */
    public static Relation unused(Dataset flights, Dataset airports) {
        return SetOperation.except(
                Query.on(airports).select("code"), Query.on(flights).select("dest"));
    }
}
