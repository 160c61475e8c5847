package io.turbidite.it.samples;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The sample of JDBC. Static. */
public final class FirstConnection {
    private FirstConnection() {}

    /** The destinations of flights that left that late from an origin. */
    public static List<String> late(Path store, String origin, int minutes) throws SQLException {
        List<String> found = new ArrayList<>();
        // begin jdbc
        String url = "jdbc:turbidite:" + store + "?readOnly=true";
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement late = connection.prepareStatement(
                        "select dest, max(delay) as worst from Flights where origin = ? and delay > ? group by dest order by worst desc")) {
            late.setString(1, origin);
            late.setInt(2, minutes);
            try (ResultSet rows = late.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getString("dest") + " " + rows.getInt("worst"));
                }
            }
        }
        // end jdbc
        return found;
    }
}
