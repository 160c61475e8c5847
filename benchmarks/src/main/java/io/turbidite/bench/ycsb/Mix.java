package io.turbidite.bench.ycsb;

import java.util.Properties;

/** One of the core workloads of YCSB, as its files {@code workloada} to {@code workloadf} say. */
public enum Mix {
    A("half reads, half updates", "zipfian", "read", 0.5, "update"),
    B("95 % reads, 5 % updates", "zipfian", "read", 0.95, "update"),
    C("reads", "zipfian", "read", 1, "update"),
    D("95 % reads of the latest, 5 % inserts", "latest", "read", 0.95, "insert"),
    E("95 % scans of 1 to 100 records, 5 % inserts", "zipfian", "scan", 0.95, "insert"),
    F(
            "half reads, half reads that are changed and written",
            "zipfian",
            "read",
            0.5,
            "readmodifywrite");

    private static final String[] KINDS = {"read", "update", "insert", "scan", "readmodifywrite"};

    private final String says;
    private final String distribution;
    private final String often;
    private final double share;
    private final String otherwise;

    Mix(String says, String distribution, String often, double share, String otherwise) {
        this.says = says;
        this.distribution = distribution;
        this.often = often;
        this.share = share;
        this.otherwise = otherwise;
    }

    /** The letter and what it does. */
    String title() {
        return name() + ", " + says;
    }

    /** An operation is up to a hundred of another's. */
    boolean scans() {
        return this == E;
    }

    /**
     * What YCSB is told: ten fields of a hundred characters, all of them read, one of them updated.
     *
     * @param records that there are
     */
    Properties properties(long records, int operations) {
        Properties properties = new Properties();
        for (String kind : KINDS) {
            properties.setProperty(kind + "proportion", "0");
        }
        properties.setProperty(otherwise + "proportion", String.valueOf(1 - share));
        properties.setProperty(often + "proportion", String.valueOf(share));
        properties.setProperty("requestdistribution", distribution);
        properties.setProperty("recordcount", String.valueOf(records));
        properties.setProperty("operationcount", String.valueOf(operations));
        properties.setProperty("maxscanlength", "100");
        properties.setProperty("scanlengthdistribution", "uniform");
        return properties;
    }
}
