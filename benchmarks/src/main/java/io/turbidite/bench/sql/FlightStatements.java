package io.turbidite.bench.sql;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Statements over flights that the suites of SQL and of operators share, and what they read. */
public final class FlightStatements {
    /** A row by its key. */
    public static final String BY_KEY = "1 row by key";

    public static final String OF_RANGE = "count with a range, full scan";
    public static final String BY_DEST = "group by dest, count";
    public static final String BY_TAIL = "group by tailnum: count, sum, avg, max";
    public static final String SORTED = "sort all, two columns";
    public static final String JOINED = "join of aircraft, sum by group";

    private static final Map<String, String> TEXTS = new LinkedHashMap<>();

    static {
        TEXTS.put(BY_KEY, "select * from Flights where id = 170000");
        TEXTS.put(
                "secondary = value, all fields", "select * from Flights where tailnum = 'N14228'");
        TEXTS.put("count(*)", "select count(*) from Flights");
        TEXTS.put(OF_RANGE, "select count(*) from Flights where distance_mi between 500 and 1000");
        TEXTS.put(BY_DEST, "select dest, count(*) as n from Flights group by dest");
        TEXTS.put(
                BY_TAIL,
                "select tailnum, count(*) as n, sum(distance_mi) as far, avg(arr_delay_min) as late, max(dep_delay_min) as worst from Flights group by tailnum");
        TEXTS.put(
                "top 10 of all by arr_delay",
                "select id, arr_delay_min from Flights order by arr_delay_min desc, id limit 10");
        TEXTS.put(SORTED, "select dest, id from Flights order by dest, id");
        TEXTS.put(
                JOINED,
                "select a.maker, sum(f.distance_mi) as far from Flights f join Aircraft a on f.tailnum = a.tailnum group by a.maker");
    }

    private FlightStatements() {}

    /** By what they are called, in the order of the tables. */
    public static Map<String, String> texts() {
        return Collections.unmodifiableMap(TEXTS);
    }

    /**
     * Statements that make the tables in DuckDB.
     *
     * @param csv the sample of flights, gzipped
     */
    public static List<String> tables(Path csv) {
        return List.of(
                "create table Flights as select id::bigint as id, carrier, flight::int as flight, tailnum, origin, dest, dest_name, dep_delay_min::int as dep_delay_min, arr_delay_min::int as arr_delay_min, air_time_min::int as air_time_min, distance_mi::int as distance_mi from read_csv('%s', nullstr = '')"
                        .formatted(csv.toString().replace("'", "''")),
                "create table Aircraft as select distinct tailnum, 'maker' || hash(tailnum) % 20 as maker from Flights where tailnum is not null");
    }

    /** The datasets of the same names. */
    public static List<DatasetSpec> specs(int partitions) {
        return List.of(
                DatasetSpec.named("Flights")
                        .field("id", "int64")
                        .field("carrier", "string")
                        .field("flight", "int32")
                        .field("tailnum", "string?")
                        .field("origin", "string")
                        .field("dest", "string")
                        .field("dest_name", "string?")
                        .field("dep_delay_min", "int32?")
                        .field("arr_delay_min", "int32?")
                        .field("air_time_min", "int32?")
                        .field("distance_mi", "int32")
                        .primaryKey("id")
                        .partitions(partitions)
                        .index(IndexSpec.btree("by_tail", "tailnum")),
                DatasetSpec.named("Aircraft")
                        .field("tailnum", "string")
                        .field("maker", "string")
                        .primaryKey("tailnum")
                        .partitions(partitions));
    }
}
