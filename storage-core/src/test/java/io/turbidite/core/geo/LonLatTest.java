package io.turbidite.core.geo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.SplittableRandom;

/** Distances on the sphere against angles of vectors; boxes and windows against places in them. */
class LonLatTest {
    private final SplittableRandom random = new SplittableRandom(1);

    private double lon() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextBoolean() ? 180 : -180;
            case 1 -> 180 - random.nextDouble() * 1e-6;
            case 2 -> -180 + random.nextDouble();
            case 3 -> random.nextInt(-4, 5) * 45.0;
            default -> random.nextDouble(-180, 180);
        };
    }

    private double lat() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextBoolean() ? 90 : -90;
            case 1 -> 90 - random.nextDouble() * 1e-6;
            case 2 -> random.nextInt(-4, 5) * 22.5;
            default -> random.nextDouble(-90, 90);
        };
    }

    /** The angle between two directions, times the radius. */
    private static double byVectors(double lon, double lat, double otherLon, double otherLat) {
        double[] a = vector(lon, lat);
        double[] b = vector(otherLon, otherLat);
        double x = a[1] * b[2] - a[2] * b[1];
        double y = a[2] * b[0] - a[0] * b[2];
        double z = a[0] * b[1] - a[1] * b[0];
        double across = Math.sqrt(x * x + y * y + z * z);
        return LonLat.RADIUS * Math.atan2(across, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    }

    private static double[] vector(double lon, double lat) {
        double x = Math.toRadians(lon);
        double y = Math.toRadians(lat);
        return new double[] {Math.cos(y) * Math.cos(x), Math.cos(y) * Math.sin(x), Math.sin(y)};
    }

    @Test
    void aDistanceIsTheAngleTimesTheRadius() {
        for (int i = 0; i < 100_000; i++) {
            double lon = lon();
            double lat = lat();
            double otherLon = lon();
            double otherLat = lat();
            // within half a metre at the other end of the earth, where the haversine is weakest
            assertThat(LonLat.distance(lon, lat, otherLon, otherLat))
                    .isCloseTo(byVectors(lon, lat, otherLon, otherLat), within(0.5));
        }
        assertThat(LonLat.distance(-0.4543, 51.47, -73.7781, 40.6413))
                .isCloseTo(5_540_000, within(15_000.0)); // Heathrow to New York
        assertThat(LonLat.distance(180, 10, -180, 10)).isZero();
        assertThat(LonLat.distance(17, 90, -120, 90)).isZero();
        assertThat(LonLat.distance(179.9999, 0, -179.9999, 0))
                .isCloseTo(2 * 1e-4 / 180 * Math.PI * LonLat.RADIUS, within(1e-6));
    }

    @Test
    void noPlaceInABoxIsNearerThanItsLeastOrFartherThanItsMost() {
        for (int i = 0; i < 200_000; i++) {
            double lon = lon();
            double lat = lat();
            double inLon = random.nextInt(4) == 0 ? lon : lon();
            double inLat = random.nextInt(4) == 0 ? lat : lat();
            double small = Math.scalb(1.0, -random.nextInt(50));
            double minX = inLon - random.nextDouble() * 90 * small;
            double maxX = inLon + random.nextDouble() * 90 * small;
            double minY = inLat - random.nextDouble() * 45 * small;
            double maxY = inLat + random.nextDouble() * 45 * small;
            double distance = LonLat.distance(lon, lat, inLon, inLat);
            assertThat(LonLat.least(lon, lat, minX, minY, maxX, maxY))
                    .isLessThanOrEqualTo(distance);
            assertThat(LonLat.most(lon, lat, minX, minY, maxX, maxY))
                    .isGreaterThanOrEqualTo(distance);
        }
    }

    /** A bound that is far below passes over nothing. */
    @Test
    void theLeastIsNearTheNearestPlaceOfTheBorder() {
        for (int i = 0; i < 300; i++) {
            double minX = random.nextDouble(-180, 150);
            double maxX = random.nextDouble(minX, 180);
            double minY = random.nextDouble(-90, 60);
            double maxY = random.nextDouble(minY, 90);
            double lon = lon();
            double lat = lat();
            double nearest = Double.POSITIVE_INFINITY;
            int steps = 400;
            for (int step = 0; step <= steps; step++) {
                double x = minX + (maxX - minX) * step / steps;
                double y = minY + (maxY - minY) * step / steps;
                nearest = Math.min(nearest, LonLat.distance(lon, lat, x, minY));
                nearest = Math.min(nearest, LonLat.distance(lon, lat, x, maxY));
                nearest = Math.min(nearest, LonLat.distance(lon, lat, minX, y));
                nearest = Math.min(nearest, LonLat.distance(lon, lat, maxX, y));
            }
            boolean isInside = lon >= minX && lon <= maxX && lat >= minY && lat <= maxY;
            double least = LonLat.least(lon, lat, minX, minY, maxX, maxY);
            assertThat(least)
                    .isCloseTo(isInside ? 0 : nearest, within(1 + nearest * 0.01 + 50_000));
        }
    }

    @Test
    void whatACircleHoldsIsInOneOfItsZonesAlone() {
        Box value = new Box();
        for (int i = 0; i < 200_000; i++) {
            double lon = lon();
            double lat = lat();
            double otherLon = random.nextInt(3) == 0 ? lon : lon();
            double otherLat = random.nextInt(3) == 0 ? lat : lat();
            double distance = LonLat.distance(lon, lat, otherLon, otherLat);
            if (distance == 0) {
                continue;
            }
            Circle circle = new Circle(Metric.SPHERE, lon, lat, distance);
            value.set(otherLon, otherLat, otherLon, otherLat);
            assertThat(circle.zones().stream().filter(zone -> zone.holds(value)))
                    .as("%s of %s %s", circle, otherLon, otherLat)
                    .hasSize(1);
            for (Zone zone : circle.zones()) {
                int relation = zone.relation(otherLon, otherLat, otherLon, otherLat);
                assertThat(relation == Zone.OUTSIDE && zone.holds(value)).isFalse();
                assertThat(relation == Zone.INSIDE && !zone.holds(value)).isFalse();
            }
        }
    }

    @Test
    void aWindowMayCrossTheAntimeridianWhichHasTwoNames() {
        assertThat(LonLat.windows(170, -10, -170, 10))
                .isEqualTo(List.of(
                        new Rectangle(170, -10, 180, 10), new Rectangle(-180, -10, -170, 10)));
        assertThat(LonLat.windows(-10, -10, 10, 10))
                .isEqualTo(List.of(new Rectangle(-10, -10, 10, 10)));
        assertThat(LonLat.windows(-180, -90, 180, 90))
                .isEqualTo(List.of(new Rectangle(-180, -90, 180, 90)));
        assertThat(LonLat.windows(-180, 0, 5, 1))
                .isEqualTo(List.of(new Rectangle(-180, 0, 5, 1), new Rectangle(180, 0, 180, 1)));
        assertThat(LonLat.windows(5, 0, 180, 1))
                .isEqualTo(List.of(new Rectangle(5, 0, 180, 1), new Rectangle(-180, 0, -180, 1)));
        assertThatThrownBy(() -> LonLat.windows(-181, 0, 0, 1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no longitude");
        assertThatThrownBy(() -> LonLat.windows(0, 5, 1, -5))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new Place(Metric.SPHERE, 0, 90.1))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new Circle(Metric.SPHERE, -180.1, 0, 1))
                .isInstanceOf(InvalidRequestException.class);
    }
}
