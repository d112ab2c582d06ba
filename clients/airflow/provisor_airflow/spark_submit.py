"""SparkSubmitOperator that runs with the advised properties; needs the Spark provider (extra `spark`)."""
from __future__ import annotations

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from provisor_airflow.spark import ProvisorSparkSubmitMixin


class ProvisorSparkSubmitOperator(ProvisorSparkSubmitMixin, SparkSubmitOperator):
    """SparkSubmitOperator, with the parameters of ProvisorSparkSubmitMixin besides its own."""

    template_fields = (*SparkSubmitOperator.template_fields, *ProvisorSparkSubmitMixin.provisor_template_fields)
