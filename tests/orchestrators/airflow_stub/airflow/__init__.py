"""What Airflow documents of the classes that clients/airflow builds on, and no more: enough to run operators, sensors
and triggers as a worker and a triggerer would. The names are where Airflow 2.7 has them; as_airflow_3() of the tests puts
them where Airflow 3 does."""
