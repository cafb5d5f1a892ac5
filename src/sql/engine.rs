//! The engines, and the few places where their SQL differs.

/// An engine that runs the SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// DuckDB.
    DuckDb,
    /// Apache Spark.
    Spark,
    /// Apache DataFusion.
    DataFusion,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::DuckDb, Self::Spark, Self::DataFusion];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::DuckDb => "duckdb",
            Self::Spark => "spark",
            Self::DataFusion => "datafusion",
        }
    }

    /// Returns the name in texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DuckDb => "DuckDB",
            Self::Spark => "Apache Spark",
            Self::DataFusion => "Apache DataFusion",
        }
    }

    /// Returns the beginning of a statement that makes a view.
    pub(super) const fn view(self) -> &'static str {
        match self {
            Self::DuckDb | Self::DataFusion => "CREATE OR REPLACE VIEW",
            Self::Spark => "CREATE OR REPLACE TEMPORARY VIEW",
        }
    }

    /// Returns what the engine must be set to before it takes the text.
    pub(super) const fn settings(self) -> &'static str {
        match self {
            // One iteration resolves one step. A view that is kept as text is parsed and analyzed again by each
            // view and query above it, which can be half of the time of a small table.
            Self::Spark => {
                "SET spark.sql.analyzer.maxIterations = 1000;\n\
                 SET spark.sql.legacy.storeAnalyzedPlanForView = true;\n"
            }
            Self::DuckDb | Self::DataFusion => "",
        }
    }

    /// Returns what must follow the text: settings that are not for the user's own views.
    pub(super) const fn settings_back(self) -> &'static str {
        match self {
            Self::Spark => "\nRESET spark.sql.legacy.storeAnalyzedPlanForView;\n",
            Self::DuckDb | Self::DataFusion => "",
        }
    }

    /// Returns a condition after the sums over launches, which holds. DuckDB 2.0 would push sums below joins, and for
    /// that put all steps into each other, every expression in the place of each of its uses; it does not where
    /// it cannot split a sum.
    pub(super) const fn after_grouping(self) -> &'static str {
        match self {
            Self::DuckDb => " HAVING mode(0) = 0",
            Self::Spark | Self::DataFusion => "",
        }
    }

    /// Returns the type of text.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::DuckDb | Self::DataFusion => "VARCHAR",
            Self::Spark => "STRING",
        }
    }

    /// Returns the statements that make the tables of a folder known by name.
    pub(super) fn tables(self, folder: &str) -> String {
        let folder = folder.trim_end_matches('/').replace('\'', "''");
        let beside = |name: &str| match self {
            Self::DuckDb => format!(
                "CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}.parquet');\n"
            ),
            Self::Spark => format!(
                "CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet OPTIONS (path '{folder}/{name}.parquet');\n"
            ),
            Self::DataFusion => format!(
                "CREATE EXTERNAL TABLE {name} STORED AS PARQUET LOCATION '{folder}/{name}.parquet';\n"
            ),
        };
        let launches = match self {
            Self::DuckDb => format!(
                "CREATE OR REPLACE VIEW launches AS SELECT * FROM read_parquet('{folder}/run=*/rank=*/part-*.parquet', \
                 hive_partitioning = true, hive_types = {{'run': VARCHAR, 'rank': BIGINT}});\n"
            ),
            Self::Spark => format!(
                "SET spark.sql.sources.partitionColumnTypeInference.enabled = false;\n\
                 CREATE OR REPLACE TEMPORARY VIEW launches USING parquet OPTIONS (path '{folder}/run=*', basePath '{folder}');\n"
            ),
            Self::DataFusion => format!(
                "CREATE EXTERNAL TABLE launches STORED AS PARQUET PARTITIONED BY (run, rank) LOCATION '{folder}/**/part-*.parquet';\n"
            ),
        };
        format!("{launches}{}{}", beside("devices"), beside("names"))
    }
}
