/**
 * {@link ReadShard} for shards whose codec comes with Elasticsearch. Its native libraries are looked for through classes
 * that want the server's logging to be there, which the server's own start would have seen to.
 */
public final class ReadElasticsearchShard {
    public static void main(String[] args) throws Exception {
        Class.forName("org.elasticsearch.common.logging.LogConfigurator").getMethod("configureESLogging").invoke(null);
        ReadShard.main(args);
    }
}
