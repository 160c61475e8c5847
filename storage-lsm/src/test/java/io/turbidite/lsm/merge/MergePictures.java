package io.turbidite.lsm.merge;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongFunction;

/**
 * The pictures of {@code docs/merge-policies.md}, drawn by the policies themselves: a column for
 * each flush with the components that are there after it, oldest at the bottom, as high as they are
 * large. What was written at that flush is coloured, so the coloured area is what was written in
 * all (but for flushes that were merged at once).
 */
final class MergePictures {
    private static final int FLUSHES = 40;
    private static final int COLUMN = 16;
    private static final int LEFT = 16;
    private static final int TOP = 40;
    private static final int HEIGHT = 160;

    /**
     * Every policy has flushes of 64 bytes, which is the least size of a level for ratios 2, 4 and
     * 8.
     */
    private static final long FLUSH = 64;

    private static final String KEPT = "fill=\"#e3dcc8\" stroke=\"#8c7a45\"";
    private static final String FLUSHED = "fill=\"#8fc48f\" stroke=\"#4f8f4f\"";
    private static final String MERGED = "fill=\"#e39a63\" stroke=\"#a8703f\"";

    private MergePictures() {}

    /** File names and contents. */
    static Map<String, String> all() {
        Map<String, String> pictures = new LinkedHashMap<>();
        for (String spec : List.of(
                "no-merge",
                "constant(componentCountMax=4)",
                "prefix(mergeableBytesMax=640, toleranceCount=3)",
                "tiering",
                "leveling(sizeRatio=4)",
                "lazy-leveling(sizeRatio=4)",
                "concurrent(mergeCountMax=4)")) {
            MergePolicySpec policy = MergePolicySpec.parse(spec);
            pictures.put("merge-" + policy.kind() + ".svg", picture(policy));
        }
        pictures.put("merge-correlated.svg", correlated());
        return pictures;
    }

    private static String picture(MergePolicySpec spec) {
        PaperIndex index = new PaperIndex(spec.policy());
        Panel panel = new Panel(LEFT, HEIGHT / (double) (FLUSHES * FLUSH));
        List<ComponentSize> before = List.of();
        for (int flush = 0; flush < FLUSHES; flush++) {
            index.flush(1, () -> FLUSH);
            List<ComponentSize> after = List.copyOf(index.newestFirst().reversed());
            panel.column(flush, after, before, ComponentSize::bytes);
            before = after;
        }
        String title = "%s: %d flushes, %.1f writes per byte, at most %d components"
                .formatted(spec.kind(), FLUSHES, index.writesPerByte(), index.componentsMax());
        return svg(2 * LEFT + FLUSHES * COLUMN, title, List.of(panel));
    }

    /**
     * A primary and a small secondary, which decides for itself or follows; height is time covered.
     */
    private static String correlated() {
        MergePolicy policy = MergePolicySpec.parse(
                        "prefix(mergeableBytesMax=256, toleranceCount=3)")
                .policy();
        int flushes = 20;
        int width = flushes * COLUMN + 2 * LEFT;
        List<Panel> panels = new ArrayList<>();
        String[] names = {"primary", "secondary, by itself", "secondary, correlated"};
        for (int i = 0; i < names.length; i++) {
            PaperIndex index = new PaperIndex(policy);
            long bytes = i == 1 ? FLUSH / 16 : FLUSH;
            Panel panel = new Panel(LEFT + i * width, HEIGHT / (double) flushes);
            List<ComponentSize> before = List.of();
            for (int flush = 0; flush < flushes; flush++) {
                index.flush(1, () -> bytes);
                List<ComponentSize> after = List.copyOf(index.newestFirst().reversed());
                panel.column(flush, after, before, c -> c.maxTimestamp() - c.minTimestamp() + 1);
                before = after;
            }
            panel.label(names[i]);
            panels.add(panel);
        }
        return svg(
                names.length * width,
                "prefix and correlated-prefix: the time that components cover",
                panels);
    }

    private static String svg(int width, String title, List<Panel> panels) {
        StringBuilder text = new StringBuilder();
        text.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
                .formatted(width, TOP + HEIGHT + 36));
        text.append(" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n");
        text.append("<rect width=\"%d\" height=\"%d\" fill=\"#fbfaf7\"/>\n"
                .formatted(width, TOP + HEIGHT + 36));
        text.append("<text x=\"%d\" y=\"24\" font-weight=\"bold\" fill=\"#222\">%s</text>\n"
                .formatted(LEFT, title));
        panels.forEach(panel -> panel.appendTo(text));
        int y = TOP + HEIGHT + 24;
        int x = LEFT;
        for (String[] entry : new String[][] {
            {FLUSHED, "flushed now"}, {MERGED, "written by a merge now"}, {KEPT, "as it was"}
        }) {
            text.append("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" %s/>"
                    .formatted(x, y - 10, entry[0]));
            text.append("<text x=\"%d\" y=\"%d\" fill=\"#555\">%s</text>\n"
                    .formatted(x + 18, y, entry[1]));
            x += 180;
        }
        return text.append("</svg>\n").toString();
    }

    /** Columns beside one another. */
    private static final class Panel {
        private final int left;
        private final double scale;
        private final Map<String, StringBuilder> rectangles = new LinkedHashMap<>();
        private String label = "";

        Panel(int left, double scale) {
            this.left = left;
            this.scale = scale;
            rectangles.put(KEPT, new StringBuilder());
            rectangles.put(FLUSHED, new StringBuilder());
            rectangles.put(MERGED, new StringBuilder());
        }

        void label(String text) {
            label = text;
        }

        void column(
                int number,
                List<ComponentSize> oldestFirst,
                List<ComponentSize> before,
                ToLongFunction<ComponentSize> height) {
            long below = 0;
            for (ComponentSize component : oldestFirst) {
                String style = before.contains(component)
                        ? KEPT
                        : component.generation() == 0 ? FLUSHED : MERGED;
                long above = below + height.applyAsLong(component);
                Objects.requireNonNull(rectangles.get(style))
                        .append(String.format(
                                Locale.ROOT,
                                "<path d=\"M%d %.1fh%dV%.1fh-%dz\"/>%n",
                                left + number * COLUMN,
                                TOP + HEIGHT - below * scale,
                                COLUMN - 3,
                                TOP + HEIGHT - above * scale,
                                COLUMN - 3));
                below = above;
            }
        }

        void appendTo(StringBuilder text) {
            rectangles.forEach(
                    (style, shapes) -> text.append("<g %s>\n%s</g>\n".formatted(style, shapes)));
            text.append("<text x=\"%d\" y=\"%d\" fill=\"#555\">%s</text>\n"
                    .formatted(left, TOP + 4, label));
        }
    }
}
