package io.turbidite.bench.hashlog;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Makes JSON records of the three shapes of FISH19 §8.1 (events of a code host of about 3 kB,
 * reviews of 0.7 kB, messages of 5 kB and more), and counts the matches of Table 1's predicates
 * while it makes them. The same seed gives the same bytes. Values are skewed: few actors, places
 * and users have most of the records.
 *
 * <p><em>Confined to one thread.</em>
 */
final class RecordGenerator {
    private static final String[] WORDS =
            ("the of and to in is it you that he was for on are with as his they be at one have this"
                            + " from or had by hot but some what there we can out other were all your when up use word how said"
                            + " an each she which do their time if will way about many then them would write like so these her")
                    .split(" ");
    private static final String[] LANGUAGES = {"ja", "en", "es", "ar", "pt", "ko", "th"};
    private static final String[] CODE = {"Java", "C++", "Python", "Go", "Rust", "JavaScript"};

    private final SplittableRandom random;
    private final Map<String, Long> matches = new HashMap<>();
    private final StringBuilder text = new StringBuilder();
    private long number;

    RecordGenerator(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Exact counts of what was made, by the names that {@link Workload#counted} has. */
    Map<String, Long> matches() {
        return matches;
    }

    /** The next record, without a line end. */
    byte[] next(Workload shape) {
        text.setLength(0);
        number++;
        switch (shape) {
            case GITHUB -> event();
            case YELP -> review();
            case TWITTER, TWITTER_SIMPLE -> message(0);
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void count(String name, boolean match) {
        matches.merge(name, match ? 1L : 0L, Long::sum);
    }

    // ---- events
    // -----------------------------------------------------------------------------------

    private void event() {
        String type = pick(
                new String[] {
                    "PushEvent",
                    "PullRequestEvent",
                    "IssuesEvent",
                    "IssueCommentEvent",
                    "WatchEvent"
                },
                new int[] {50, 8, 5, 12, 25});
        long actor = skewed(2_000_000);
        long repository = skewed(3_000_000);
        String url =
                "https://api.example.com/repos/u%d/r%d".formatted(repository % 500_000, repository);
        text.append("{\"id\":\"")
                .append(8_200_000_000L + 3 * number)
                .append("\",\"type\":\"")
                .append(type);
        text.append("\",\"actor\":{\"id\":").append(1_000 + actor);
        text.append(",\"login\":\"u").append(actor).append("\",\"gravatar_id\":\"\",\"url\":\"");
        text.append("https://api.example.com/users/u")
                .append(actor)
                .append("\"},\"repo\":{\"id\":");
        text.append(5_000 + repository).append(",\"name\":\"u").append(repository % 500_000);
        text.append("/r")
                .append(repository)
                .append("\",\"url\":\"")
                .append(url)
                .append("\"},\"payload\":{");
        String action = random.nextBoolean() ? "opened" : "closed";
        String language = CODE[random.nextInt(CODE.length)];
        switch (type) {
            case "PushEvent" -> push(url);
            case "PullRequestEvent" -> pullRequest(url, action, language);
            case "IssuesEvent" -> issue(url, action);
            case "IssueCommentEvent" -> issue(url, "created");
            default -> text.append("\"action\":\"started\"");
        }
        text.append("},\"public\":true,\"created_at\":\"").append(time()).append("\"}");
        count("issue_opened", type.equals("IssuesEvent") && action.equals("opened"));
        count("pr_cpp", type.equals("PullRequestEvent") && language.equals("C++"));
        count("type==PushEvent", type.equals("PushEvent"));
    }

    private void push(String url) {
        long commits = 1 + skewed(14);
        text.append("\"push_id\":")
                .append(random.nextInt(1 << 30))
                .append(",\"size\":")
                .append(commits);
        text.append(",\"ref\":\"refs/heads/main\",\"commits\":[");
        for (long i = 0; i < commits; i++) {
            text.append(i == 0 ? "" : ",").append("{\"sha\":\"");
            hex(40);
            text.append("\",\"author\":{\"email\":\"");
            hex(40);
            text.append("@example.com\",\"name\":\"somebody\"},\"message\":\"");
            words(40 + (int) skewed(300));
            text.append("\",\"distinct\":true,\"url\":\"").append(url).append("/commits/");
            hex(40);
            text.append("\"}");
        }
        text.append(']');
    }

    private void pullRequest(String url, String action, String language) {
        text.append("\"action\":\"").append(action).append("\",\"number\":").append(skewed(9_000));
        text.append(",\"pull_request\":{\"url\":\"").append(url).append("/pulls/1\",\"user\":");
        user();
        text.append(",\"body\":\"");
        words(100 + (int) skewed(3_000));
        text.append("\",\"head\":{\"ref\":\"patch\",\"repo\":");
        repository(url, language);
        text.append("},\"base\":{\"ref\":\"main\",\"repo\":");
        repository(url, language);
        text.append("},\"merged\":false,\"commits\":3}");
    }

    private void issue(String url, String action) {
        text.append("\"action\":\"")
                .append(action)
                .append("\",\"issue\":{\"url\":\"")
                .append(url);
        text.append("/issues/1\",\"title\":\"");
        words(50);
        text.append("\",\"user\":");
        user();
        text.append(",\"labels\":[{\"id\":1,\"name\":\"bug\"}],\"assignee\":null,\"body\":\"");
        words(900 + (int) skewed(6_000));
        text.append("\"}");
    }

    private void user() {
        long id = skewed(2_000_000);
        text.append("{\"login\":\"u").append(id).append("\",\"id\":").append(id);
        for (String name :
                new String[] {"followers", "following", "gists", "starred", "repos", "events"}) {
            text.append(",\"").append(name).append("_url\":\"https://api.example.com/users/u");
            text.append(id).append('/').append(name).append("{/other}\"");
        }
        text.append(",\"type\":\"User\",\"site_admin\":false}");
    }

    private void repository(String url, String language) {
        text.append("{\"id\":").append(skewed(3_000_000)).append(",\"owner\":");
        user();
        for (int i = 0; i < 44; i++) {
            text.append(",\"part")
                    .append(i)
                    .append("_url\":\"")
                    .append(url)
                    .append("/part")
                    .append(i);
            text.append("{/sha}\"");
        }
        text.append(",\"size\":")
                .append(random.nextInt(90_000))
                .append(",\"language\":\"")
                .append(language);
        text.append("\",\"has_issues\":true,\"license\":null,\"forks\":0}");
    }

    // ---- reviews
    // ----------------------------------------------------------------------------------

    private void review() {
        int stars = 1 + random.nextInt(5);
        long useful = random.nextInt(16) == 0 ? skewed(60) : skewed(4);
        text.append("{\"review_id\":\"");
        letters(22);
        text.append("\",\"user_id\":\"");
        named(skewed(1_500_000));
        text.append("\",\"business_id\":\"");
        named(skewed(190_000));
        text.append("\",\"stars\":").append(stars).append(",\"useful\":").append(useful);
        text.append(",\"funny\":").append(skewed(20)).append(",\"cool\":").append(skewed(20));
        text.append(",\"text\":\"");
        words(60 + random.nextInt(300) + (int) skewed(2_500));
        text.append("\",\"date\":\"").append(time(), 0, 19).append("\"}");
        count("stars>3&&useful>5", stars > 3 && useful > 5);
        count("useful>10", useful > 10);
    }

    // ---- messages
    // ---------------------------------------------------------------------------------

    private void message(int depth) {
        long id = 1_037_000_000_000_000_000L + number * 4_099 + depth;
        boolean reply = random.nextInt(10) < 3;
        long to = skewed(1_000_000);
        String toName = to == 3 ? "realDonaldTrump" : "t" + to;
        long from = skewed(1_000_000);
        String userLanguage = LANGUAGES[(int) skewed(LANGUAGES.length)];
        long followers = (long) Math.pow(8_000, random.nextDouble());
        String language = LANGUAGES[random.nextInt(LANGUAGES.length)];
        boolean sensitive = random.nextInt(10) == 0;
        text.append("{\"created_at\":\"Wed Sep 05 01:02:03 +0000 2018\",\"id\":")
                .append(id);
        text.append(",\"id_str\":\"").append(id).append("\",\"text\":\"");
        words(30 + random.nextInt(200));
        text.append("\",\"source\":\"<a href=\\\"http:\\/\\/example.com\\/phone\\\">Phone<\\/a>\"");
        text.append(",\"truncated\":false,\"in_reply_to_status_id\":")
                .append(reply ? id - 999 : "null");
        text.append(",\"in_reply_to_user_id\":").append(reply ? 20_000 + to : "null");
        text.append(",\"in_reply_to_screen_name\":").append(reply ? "\"" + toName + "\"" : "null");
        text.append(",\"user\":{\"id\":")
                .append(20_000 + from)
                .append(",\"name\":\"T")
                .append(from);
        text.append("\",\"description\":\"");
        words(200);
        text.append("\",\"followers_count\":").append(followers).append(",\"statuses_count\":");
        text.append((long) Math.pow(200_000, random.nextDouble()))
                .append(",\"lang\":\"")
                .append(userLanguage)
                .append('"');
        for (int i = 0; i < 40; i++) {
            text.append(",\"profile_part")
                    .append(i)
                    .append("\":\"https:\\/\\/example.com\\/images\\/themes\\/");
            text.append(from).append("\"");
        }
        text.append("},\"geo\":null,\"place\":null");
        if (depth == 0 && random.nextInt(100) < 62) {
            text.append(",\"retweeted_status\":");
            message(1);
        }
        text.append(",\"quote_count\":0,\"retweet_count\":").append(skewed(9_000));
        text.append(
                ",\"entities\":{\"hashtags\":[],\"urls\":[{\"url\":\"https:\\/\\/example.com\\/x\",\"indices\":[10,33]}]}");
        text.append(",\"possibly_sensitive\":").append(sensitive);
        text.append(",\"filter_level\":\"low\",\"lang\":\"").append(language).append("\"}");
        if (depth == 0) {
            count("ja_popular", userLanguage.equals("ja") && followers > 3_000);
            count("reply_sensitive", reply && to == 3 && sensitive);
            count("lang==en", language.equals("en"));
        }
    }

    // ---- values
    // -----------------------------------------------------------------------------------

    /** 0 to {@code count - 1}; small numbers come much more often. */
    private long skewed(long count) {
        return (long) Math.pow((double) (count + 1), random.nextDouble()) - 1;
    }

    private String pick(String[] values, int[] weights) {
        int at = random.nextInt(100);
        for (int i = 0; i < values.length; i++) {
            at -= weights[i];
            if (at < 0) {
                return values[i];
            }
        }
        return values[0];
    }

    private void words(int chars) {
        int end = text.length() + chars;
        while (text.length() < end) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
    }

    private void hex(int chars) {
        for (int i = 0; i < chars; i++) {
            text.append(Character.forDigit(random.nextInt(16), 16));
        }
    }

    private void letters(int chars) {
        for (int i = 0; i < chars; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
    }

    /** The same 22 letters for the same number. */
    private void named(long id) {
        SplittableRandom own = new SplittableRandom(id);
        for (int i = 0; i < 22; i++) {
            text.append((char) ('a' + own.nextInt(26)));
        }
    }

    private String time() {
        long second = number / 10;
        return String.format(
                Locale.ROOT,
                "2018-09-%02dT%02d:%02d:%02dZ",
                1 + second / 86_400 % 28,
                second / 3_600 % 24,
                second / 60 % 60,
                second % 60);
    }
}
